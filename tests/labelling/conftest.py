from labelling.studies import (  # noqa: F401 (fixtures)
    closing_engines,
    postgresql_server,
    study,
    study_address,
)
