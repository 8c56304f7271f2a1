"""The predecessor's kinds that ran on a GPU under CUDA."""
