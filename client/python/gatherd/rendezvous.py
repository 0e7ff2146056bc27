"""Which of several servers owns a key, when a table is spread over them.

Rendezvous hashing: the owner is the server whose score for the key is highest.
client/rendezvous.h, which is the same, says how scores are made, from where it
is taken, and why it never changes.
"""

from typing import Sequence

import numpy as np
import numpy.typing as npt

from gatherd import arrays

_MASK = 2**64 - 1


def _fnv1a64(text: bytes) -> int:
    value = 0xCBF29CE484222325
    for byte in text:
        value = (value ^ byte) * 0x100000001B3 & _MASK
    return value


def _mix(values: np.ndarray) -> np.ndarray:
    """Of an own array of uint64, which it overwrites."""
    shift = np.uint64(33)
    values ^= values >> shift
    values *= np.uint64(0xFF51AFD7ED558CCD)
    values ^= values >> shift
    values *= np.uint64(0xC4CEB9FE1A85EC53)
    values ^= values >> shift
    return values


def owners(keys: npt.ArrayLike, names: Sequence[str]) -> np.ndarray:
    """The index in `names` of each key's owner, as intp (n,).

    Args:
      keys: integers (n,), as in a lookup.
      names: of the servers, at least one, no two equal. Their order does not
        matter to who owns what.
    """
    if not names or len(set(names)) != len(names):
        raise ValueError("names must be at least one, and no two equal")
    bits = arrays.keys_array(keys).astype("<i8", copy=False).view("<u8")
    owner = np.empty(bits.size, np.intp)
    highest = None
    for i in sorted(range(len(names)), key=lambda i: names[i].encode()):
        seed = _mix(np.array([_fnv1a64(names[i].encode())], np.uint64))
        scores = _mix(bits ^ seed)
        if highest is None:
            owner[:], highest = i, scores
            continue
        wins = scores > highest
        owner[wins] = i
        np.maximum(highest, scores, out=highest)
    return owner
