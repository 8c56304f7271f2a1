"""Why an attestation is refused."""


class AttestationError(ValueError):
    """It is missing, damaged, forged, of another file, or signed by nobody who is trusted; the message is one line."""
