"""Errors that are raised in more than one place."""


def prior_missing(method: str) -> ValueError:
    """The error for a method that needs the class prior when none was given."""
    return ValueError(
        f"method {method!r} needs the class prior p(y = +1), and none was given. "
        "Pass prior=..., the share of positives among the items (a rough figure is better than none); "
        'ConfDiffClassifier also takes prior="estimate" and a few labelled items.'
    )


def companion_missing(method: str, companion: str) -> ValueError:
    """The error for a method that keeps state beside the network, where its risk is asked for without that."""
    return ValueError(
        f"method {method!r} keeps state while it learns, and its risk takes what that gives: use train(), or a "
        f"{companion} of confdiff.companions as docs/quick-start.md shows."
    )


def no_weight() -> ValueError:
    """The error for pairs of which none counts."""
    return ValueError("weight must be above 0 for at least one pair; all are 0.")


def no_probabilities(loss: str) -> ValueError:
    """The error for a loss whose scores are no probabilities where such are needed."""
    return ValueError(f"the {loss} loss gives no probabilities; logistic, squared and exponential do.")


def one_prior_only(method: str) -> ValueError:
    """The error for a prior that differs from pair to pair and a method that knows one."""
    return ValueError(f"method {method!r} takes one prior for all pairs; got one for each.")


def two_classes_only(method: str) -> ValueError:
    """The error for vectors of differences and a method that knows two classes."""
    return ValueError(f"method {method!r} knows two classes only; confdiff-regression and others know more.")


def not_for_streams(what: str, remedy: str) -> ValueError:
    """The error for what needs all pairs in memory."""
    return ValueError(f"{what} needs its pairs in memory, and these are streamed. {remedy}")


def no_pairs() -> ValueError:
    """The error for a set of pairs that is empty."""
    return ValueError("there must be at least one pair; got none.")
