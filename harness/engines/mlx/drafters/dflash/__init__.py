"""The DFlash drafter, in MLX and bridged to PyTorch."""
