"""Learn a classifier with probabilities from graded comparisons of unlabelled pairs.

The public names are imported when they are first used, so that ``import confdiff`` and ``confdiff --help``
do not wait for PyTorch and scikit-learn.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from confdiff.corrections import CORRECTIONS as CORRECTIONS
    from confdiff.estimators import ConfDiffAuto as ConfDiffAuto
    from confdiff.estimators import ConfDiffBoosting as ConfDiffBoosting
    from confdiff.estimators import ConfDiffClassifier as ConfDiffClassifier
    from confdiff.estimators import ConfDiffLogisticRegression as ConfDiffLogisticRegression
    from confdiff.estimators import ItemTransformer as ItemTransformer
    from confdiff.estimators import OneVersusOne as OneVersusOne
    from confdiff.estimators import OneVersusRest as OneVersusRest
    from confdiff.estimators import PcompClassifier as PcompClassifier
    from confdiff.estimators import ProjectedClassifier as ProjectedClassifier
    from confdiff.estimators import prior_sensitivity as prior_sensitivity
    from confdiff.estimators import score_items as score_items
    from confdiff.links import LINKS as LINKS
    from confdiff.losses import LOSSES as LOSSES
    from confdiff.methods import METHODS as METHODS
    from confdiff.methods import Method as Method
    from confdiff.models import MODELS as MODELS
    from confdiff.pairs import Pairs as Pairs
    from confdiff.pairs import StreamedPairs as StreamedPairs
    from confdiff.pairs import sample_pairs as sample_pairs
    from confdiff.pairs.splitting import ItemKFold as ItemKFold
    from confdiff.plugins import load_plugins as load_plugins
    from confdiff.prior import estimate_prior as estimate_prior
    from confdiff.ranking.ranking import Ranking as Ranking
    from confdiff.ranking.ranking_items import rank_items as rank_items
    from confdiff.registration import register_dataset as register_dataset
    from confdiff.registration import register_method as register_method
    from confdiff.registration import register_model as register_model
    from confdiff.tabular.features.computing.files import FileEncoder as FileEncoder
    from confdiff.tabular.features.item_features import ItemFeatures as ItemFeatures
    from confdiff.tabular.fit_options import FitOptions as FitOptions
    from confdiff.tabular.fitting import fit_comparisons as fit_comparisons
    from confdiff.tabular.model.model import ComparisonModel as ComparisonModel
    from confdiff.tabular.model.model import load_model as load_model
    from confdiff.threads import use_threads as use_threads
    from confdiff.training import Recipe as Recipe
    from confdiff.training import train as train

_HOME = {
    "CORRECTIONS": "corrections",
    "ComparisonModel": "tabular.model.model",
    "ConfDiffAuto": "estimators",
    "ConfDiffBoosting": "estimators",
    "ConfDiffClassifier": "estimators",
    "ConfDiffLogisticRegression": "estimators",
    "FileEncoder": "tabular.features.computing.files",
    "FitOptions": "tabular.fit_options",
    "ItemFeatures": "tabular.features.item_features",
    "ItemKFold": "pairs.splitting",
    "ItemTransformer": "estimators",
    "LINKS": "links",
    "LOSSES": "losses",
    "METHODS": "methods",
    "MODELS": "models",
    "Method": "methods",
    "OneVersusOne": "estimators",
    "OneVersusRest": "estimators",
    "Pairs": "pairs",
    "PcompClassifier": "estimators",
    "ProjectedClassifier": "estimators",
    "Ranking": "ranking.ranking",
    "Recipe": "training",
    "StreamedPairs": "pairs",
    "estimate_prior": "prior",
    "fit_comparisons": "tabular.fitting",
    "load_model": "tabular.model.model",
    "load_plugins": "plugins",
    "prior_sensitivity": "estimators",
    "rank_items": "ranking.ranking_items",
    "register_dataset": "registration",
    "register_method": "registration",
    "register_model": "registration",
    "sample_pairs": "pairs",
    "score_items": "estimators",
    "train": "training",
    "use_threads": "threads",
}

__all__ = ["__version__", *sorted(_HOME)]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return __all__
