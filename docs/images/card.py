"""Draw docs/images/card.png: the plots of the card of a model.

Run ``python docs/images/card.py MODEL`` with the folder that the commands of docs/your-data.md write.
"""

import sys
from pathlib import Path

from confdiff import load_model
from confdiff.display.figures import save_figure
from confdiff.tabular.model.card import card_figure

if __name__ == "__main__":
    save_figure(card_figure(load_model(sys.argv[1]).about), Path(__file__).with_suffix(".png"))
