"""No test depends on the clock: hypothesis sets no deadline."""

from hypothesis import settings

settings.register_profile("k3", deadline=None)
settings.load_profile("k3")
