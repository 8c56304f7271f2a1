"""What a bounded cache needs of PyTorch: arrays, a layer loop, the maps of f_theta."""
