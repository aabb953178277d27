"""Register methods, data sets and networks: the functions that plug-ins call."""

from confdiff.registration.datasets import register_dataset
from confdiff.registration.methods import register_method
from confdiff.registration.models import register_model

__all__ = ["register_dataset", "register_method", "register_model"]
