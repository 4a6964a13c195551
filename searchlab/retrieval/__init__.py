"""How is an index searched? Scorers, kernels, the engine, and what it gives back."""
