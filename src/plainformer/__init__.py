"""The Transformer in small pure functions over NumPy arrays and PyTorch tensors.

One topic a module. Axis letters, everywhere the same:
T query positions, S key positions, D width of a head or a vector, E model width, F feed-forward width,
H query heads, G key/value heads, V vocabulary, L layers, B batch, C width of a context, N repeats.
"""
