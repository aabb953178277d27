"""The table of data sets: those of the paper, four tables, two with judgements of people, and two of interactions.

A new data set is a file with its :class:`~confdiff.datasets.sources.Form` and one row here.
"""

from confdiff.datasets.arguments import UKPCONVARG1
from confdiff.datasets.cifar import ANIMALS, CIFAR10, CIFAR10H, CIFAR_CLASSES, CIFAR_LAYOUT
from confdiff.datasets.digits import DIGITS, EVEN, load_digits
from confdiff.datasets.entry import Entry, Kind, PairSetting, RankingSetting
from confdiff.datasets.idx import FASHION, FASHION_MNIST, KMNIST, KUZUSHIJI, MNIST
from confdiff.datasets.interactions import JESTER, KUAIREC
from confdiff.datasets.tables import (
    ADULT,
    FRAMINGHAM,
    GOOD_WINES,
    INCOMES,
    MAILS,
    OUTCOMES,
    QUALITIES,
    SPAMBASE,
    WINE,
)
from confdiff.datasets.uci_and_usps import LETTER, LETTERS, OPTDIGITS, PENDIGITS, USPS

_UCI = "https://archive.ics.uci.edu/dataset"
_UNKNOWN = "none stated"

DATASETS: dict[str, Entry] = {
    "digits": Entry(
        label="Digits",
        title="digits of scikit-learn",
        licence="CC BY 4.0",
        home="ships with scikit-learn",
        n_train=1_797,
        builtin=load_digits,
        n_features=64,
        class_names=DIGITS,
        positive=EVEN,
        setting=PairSetting(400),  # not in the paper: pairs that can be drawn at priors from .2 to .8
    ),
    "mnist": Entry(
        label="MNIST",
        title="handwritten digits",
        licence="CC BY-SA 3.0",
        home="http://yann.lecun.com/exdb/mnist",
        n_train=60_000,
        n_test=10_000,
        forms=(MNIST,),
        n_features=784,
        class_names=DIGITS,
        positive=EVEN,
        setting=PairSetting(15_000, batch_size=256),
    ),
    "kmnist": Entry(
        label="Kuzushiji",
        title="Kuzushiji, cursive Japanese",
        licence="CC BY-SA 4.0",
        home="https://github.com/rois-codh/kmnist",
        n_train=60_000,
        n_test=10_000,
        forms=(KMNIST,),
        n_features=784,
        class_names=KUZUSHIJI,
        positive=EVEN,
        setting=PairSetting(15_000, batch_size=256),
    ),
    "fashion": Entry(
        label="Fashion",
        title="pictures of clothes",
        licence="MIT",
        home="https://github.com/zalandoresearch/fashion-mnist",
        n_train=60_000,
        n_test=10_000,
        forms=(FASHION_MNIST,),
        n_features=784,
        class_names=FASHION,
        positive=EVEN,
        setting=PairSetting(15_000, batch_size=256),
    ),
    "cifar10": Entry(
        label="CIFAR-10",
        title="colour pictures of things",
        licence=_UNKNOWN,
        home="https://www.cs.toronto.edu/~kriz/cifar.html",
        n_train=50_000,
        n_test=10_000,
        forms=CIFAR10,
        n_features=3_072,
        class_names=CIFAR_CLASSES,
        positive=ANIMALS,
        network="picture",
        layout=CIFAR_LAYOUT,
        setting=PairSetting(10_000, learning_rate=5e-4),
    ),
    "optdigits": Entry(
        label="Optdigits",
        title="handwritten digits, scanned",
        licence="CC BY 4.0",
        home=f"{_UCI}/80",
        n_train=5_620,
        forms=(OPTDIGITS,),
        n_features=62,
        class_names=DIGITS,
        positive=EVEN,
        setting=PairSetting(1_200),
    ),
    "usps": Entry(
        label="USPS",
        title="handwritten postal codes",
        licence=_UNKNOWN,
        home="https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/multiclass.html",
        n_train=9_298,
        forms=USPS,
        n_features=256,
        class_names=DIGITS,
        positive=EVEN,
        setting=PairSetting(2_000),
    ),
    "pendigits": Entry(
        label="Pendigits",
        title="handwritten digits, pen strokes",
        licence="CC BY 4.0",
        home=f"{_UCI}/81",
        n_train=10_992,
        forms=(PENDIGITS,),
        n_features=16,
        class_names=DIGITS,
        positive=EVEN,
        setting=PairSetting(2_500),
    ),
    "letter": Entry(
        label="Letter",
        title="capital letters, 16 measures",
        licence="CC BY 4.0",
        home=f"{_UCI}/59",
        n_train=20_000,
        forms=(LETTER,),
        n_features=16,
        class_names=LETTERS,
        positive=tuple(range(13)),
        setting=PairSetting(4_000),
    ),
    "adult": Entry(  # for this and the next three: as many pairs as can be drawn, see digits
        label="Adult",
        title="income above 50,000 dollars, census of 1994",
        licence="CC BY 4.0",
        home=f"{_UCI}/2",
        n_train=32_561,
        forms=ADULT,
        n_features=108,
        class_names=INCOMES,
        positive=(1,),
        setting=PairSetting(3_000),
    ),
    "spambase": Entry(
        label="Spambase",
        title="frequencies of words in e-mails, spam or not",
        licence="CC BY 4.0",
        home=f"{_UCI}/94",
        n_train=4_601,
        forms=SPAMBASE,
        n_features=57,
        class_names=MAILS,
        positive=(1,),
        setting=PairSetting(900),
    ),
    "wine": Entry(
        label="Wine Quality",
        title="chemistry of red and white wines, quality 3 to 9",
        licence="CC BY 4.0",
        home=f"{_UCI}/186",
        n_train=5_320,
        forms=WINE,
        n_features=12,
        class_names=QUALITIES,
        positive=GOOD_WINES,
        setting=PairSetting(900),
    ),
    "framingham": Entry(
        label="Framingham",
        title="death in an extract of the Framingham study",
        licence=_UNKNOWN,
        home="no public source, only from a folder",
        n_train=2_634,
        forms=FRAMINGHAM,
        n_features=11,
        class_names=OUTCOMES,
        positive=(1,),
        setting=PairSetting(250),
    ),
    "cifar10h": Entry(
        label="CIFAR-10H",
        title="votes of people on CIFAR-10 images",
        licence="CC BY-NC-SA 4.0",
        home="https://github.com/jcpeterson/cifar-10h",
        n_train=10_000,
        forms=CIFAR10H,
        n_features=3_072,
        class_names=CIFAR_CLASSES,
        positive=ANIMALS,
        network="picture",
        layout=CIFAR_LAYOUT,
        graded_by_people=True,
        setting=PairSetting(2_000, learning_rate=5e-4),  # not in the paper: as many as can be drawn, see digits
    ),
    "ukpconvarg1": Entry(
        label="UKPConvArg1",
        title="16,927 judged pairs of arguments",
        licence="CC BY 4.0",
        home="https://github.com/UKPLab/acl2016-convincing-arguments",
        n_train=1_052,
        forms=UKPCONVARG1,
        kind="comparisons",
    ),
    "kuairec": Entry(
        label="KuaiRec",
        title="watch ratios of short videos by 1,411 users",
        licence="CC BY-SA 4.0",
        home="https://kuairec.com",
        n_train=3_327,
        forms=KUAIREC,
        kind="interactions",
        ranking=RankingSetting("watch-ratio", threshold=None, negatives="auto"),
    ),
    "jester": Entry(
        label="Jester",
        title="ratings of jokes by 24,983 users, from -10 to 10",
        licence="free for research",
        home="https://eigentaste.berkeley.edu/dataset",
        n_train=100,
        forms=JESTER,
        kind="interactions",
        ranking=RankingSetting("min-max", threshold=5.0, negatives="observed", n_users=2_000),
    ),
}
"""Name -> entry."""


def names_of_kind(kind: Kind) -> tuple[str, ...]:
    """Return the names of the data sets of one kind, in the order of the table.

    >>> names_of_kind("interactions")
    ('kuairec', 'jester')
    """
    return tuple(name for name, entry in DATASETS.items() if entry.kind == kind)
