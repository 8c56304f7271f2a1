"""A plug-in of each kind for K3, each a module of its own. `entries` names what needs MLX, and imports none of it."""
