"""The predecessor's measurements of vLLM, to set beside its own."""
