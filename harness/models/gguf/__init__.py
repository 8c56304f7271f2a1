"""GGUF files, and the model folders that are made from them."""
