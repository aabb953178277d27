"""What methods and data sets are called in reports, and one colour a method, for colour-blind readers too."""

# Okabe and Ito 2008, and for our own methods the muted colours of Tol 2021; the oracles, which are references and not
# competitors, are grey.
COLOURS = {
    "confdiff-unbiased": "#E69F00",
    "confdiff-relu": "#56B4E9",
    "confdiff-abs": "#0072B2",
    "confdiff-regression": "#882255",
    "confdiff-combined": "#332288",
    "confdiff-projection": "#44AA99",
    "confdiff-information": "#AA4499",
    "pcomp-unbiased": "#F0C400",
    "pcomp-relu": "#CC79A7",
    "pcomp-abs": "#D55E00",
    "pcomp-teacher": "#009E73",
    "bpr": "#999933",
    "mrl": "#661100",
    "oracle-hard": "#999999",
    "oracle-soft": "#444444",
}
LABELS = {
    "confdiff-unbiased": "ConfDiff-Unbiased",
    "confdiff-relu": "ConfDiff-ReLU",
    "confdiff-abs": "ConfDiff-ABS",
    "confdiff-regression": "ConfDiff-Regression",
    "confdiff-combined": "ConfDiff-Combined",
    "confdiff-projection": "ConfDiff-Projection",
    "confdiff-information": "ConfDiff-Information",
    "pcomp-unbiased": "Pcomp-Unbiased",
    "pcomp-relu": "Pcomp-ReLU",
    "pcomp-abs": "Pcomp-ABS",
    "pcomp-teacher": "Pcomp-Teacher",
    "bpr": "BPR",
    "mrl": "MRL",
    "oracle-hard": "Oracle-Hard",
    "oracle-soft": "Oracle-Soft",
}
TITLES = {
    "mnist": "MNIST",
    "kmnist": "Kuzushiji",
    "fashion": "Fashion",
    "cifar10": "CIFAR-10",
    "optdigits": "Optdigits",
    "usps": "USPS",
    "pendigits": "Pendigits",
    "letter": "Letter",
    "digits": "Digits",
    "cifar10h": "CIFAR-10H",
}
