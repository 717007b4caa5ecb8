"""What a step of GPT-2 costs: its multiply–adds, and the bytes that a key/value cache holds."""


def work(new, keys, E=768, F=3072, L=12, V=50257):
    """Return the multiply–adds of a step in which `new` rows go in and read `keys` rows; the settings are
    GPT-2 small's.

    Counted are the matrix products; what the norms and the activations do is little beside them.
    """
    maps = new * (4 * E * E + 2 * E * F)
    pairs = 2 * new * keys * E  # scores and mixing; the masked pairs are multiplied too
    return L * (maps + pairs) + E * V


def cache_bytes(L, G, S, D, bytes_each=4):
    """Return the bytes of the keys and values of L layers, each with G heads of S positions and width D."""
    return 2 * L * G * S * D * bytes_each
