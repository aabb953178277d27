"""A client of an application in this process."""

import warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # starlette asks for another package
    from starlette.testclient import TestClient


def client_of(app):
    """Return a client that does not follow redirects."""
    return TestClient(app, follow_redirects=False)
