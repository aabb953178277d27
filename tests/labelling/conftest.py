from labelling.browsers import browser, context, playwright, tab  # noqa: F401 (fixtures)
from labelling.studies import (  # noqa: F401 (fixtures)
    closing_engines,
    postgresql_server,
    study,
    study_address,
)
