from hypothesis import settings

# A busy machine must not fail a test; the seed is fixed so that a failure can be repeated.
settings.register_profile("confdiff", deadline=None, derandomize=True)
settings.load_profile("confdiff")
