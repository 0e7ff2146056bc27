"""Packed uint32 fields: varints, seven bits a byte, the lowest first."""

import numpy as np

# The least value that takes 1, 2, ... bytes.
_LEAST_OF_LENGTH = np.array([0, 1 << 7, 1 << 14, 1 << 21, 1 << 28], np.uint32)


def encode(values: np.ndarray) -> bytes:
    """The varints of uint32 (n,), one after the other."""
    if values.size == 0:
        return b""
    lengths = np.searchsorted(_LEAST_OF_LENGTH, values, "right")[:, None]
    # A column for each byte of the longest; offsets rarely take more than 3.
    places = np.arange(lengths.max(), dtype=np.uint32)
    groups = (values[:, None] >> (7 * places)).astype(np.uint8) & 0x7F
    groups[places < lengths - 1] |= 0x80  # more bytes follow
    return groups[places < lengths].tobytes()
