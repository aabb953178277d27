"""Build the errors that are raised in more than one place."""


def prior_missing(method: str) -> ValueError:
    """Return the error for a method that needs the class prior when none was given."""
    return ValueError(
        f"method {method!r} needs the class prior p(y = +1); got None. "
        "Pass prior=..., the fraction of positives among the items (a rough value is better than none). "
        'ConfDiffClassifier also takes prior="estimate" and a few labelled items.'
    )


def companion_missing(method: str, companion: str) -> ValueError:
    """Return the error for a risk that needs the state of a companion and was called without it."""
    return ValueError(
        f"method {method!r} keeps state during training, and its risk takes targets from that state. "
        f"Use train(), or a {companion} of confdiff.companions as docs/quick-start.md shows."
    )


def no_weight() -> ValueError:
    """Return the error for pairs whose weights are all 0."""
    return ValueError("weight must be above 0 for at least one pair; all are 0.")


def no_probabilities(loss: str) -> ValueError:
    """Return the error for a loss whose scores do not determine probabilities."""
    return ValueError(
        f"the scores of the {loss} loss do not determine probabilities; use logistic, squared or exponential."
    )


def one_prior_only(method: str) -> ValueError:
    """Return the error for a method that takes one prior and got a prior per pair."""
    return ValueError(f"method {method!r} takes one prior for all pairs; got one per pair.")


def balanced_prior() -> ValueError:
    """Return the error for similarities at a class prior of 1/2, where they say nothing about the class of an item."""
    return ValueError(
        "learning from same-class answers by their risk needs a class prior other than 1/2; got 0.5. "
        "At 1/2 an item is as often of the same class as of the other, whatever its class. "
        "Use confdiff-similarity, or a method that learns from differences."
    )


def two_classes_only(method: str) -> ValueError:
    """Return the error for a binary method that got vectors of differences."""
    return ValueError(
        f"method {method!r} supports two classes only; got differences of more. Use confdiff-regression, for example."
    )


def not_for_streams(subject: str, remedy: str) -> ValueError:
    """Return the error for an operation that needs all pairs in memory."""
    return ValueError(f"{subject} needs its pairs in memory; got streamed pairs. {remedy}")


def no_pairs() -> ValueError:
    """Return the error for an empty set of pairs."""
    return ValueError("expected at least one pair; got none.")
