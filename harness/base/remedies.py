"""What to do about a package that is missing, told alike everywhere. K3 is on no index: it is installed from source."""

TORCH_REMEDY = "pip install '.[torch]' in K3's source folder"
MLX_REMEDY = "pip install . in K3's source folder, on macOS or Linux"
