"""Rows that tell their key and version in every element type.

Elements are whole numbers of at most 127, and the first one is 127: float16,
bfloat16 and int8 (with a scale of exactly 1) hold them without loss, and sums
of 64 of them are exact in float32.
"""

import numpy as np

# Elements 1 to 3 are the version's digits, so versions stay below BASE ** 3.
BASE = 127
NUM_DIGITS = 3


def rows_of(keys, versions, dim):
    """float32 (n, dim)."""
    keys = np.asarray(keys, np.uint64)[:, None]
    versions = np.broadcast_to(np.asarray(versions, np.uint64), len(keys))
    mixed = (keys * np.uint64(0x9E3779B97F4A7C15)
             + versions[:, None] * np.uint64(0xC2B2AE3D27D4EB4F)
             + np.arange(dim, dtype=np.uint64) * np.uint64(0x165667B19E3779F9))
    mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    rows = (mixed >> np.uint64(32)) % np.uint64(2 * BASE + 1)
    rows = rows.astype(np.float32) - BASE
    rows[:, 0] = BASE
    for digit in range(NUM_DIGITS):
        rows[:, 1 + digit] = versions // np.uint64(BASE ** digit) % np.uint64(
            BASE)
    return rows


def versions_of(rows):
    """What the rows say; nonsense of rows that are none of these."""
    powers = BASE ** np.arange(NUM_DIGITS, dtype=np.float32)
    versions = rows[:, 1:1 + NUM_DIGITS] @ powers
    return np.nan_to_num(versions).clip(0, BASE ** NUM_DIGITS - 1).astype(
        np.int64)


def check_rows(keys, rows, oldest, newest):
    """Each row is whole, its key's, and of a version from `oldest` to
    `newest`."""
    versions = versions_of(rows)
    whole = (rows == rows_of(keys, versions, rows.shape[1])).all(axis=1)
    if not whole.all():
        raise AssertionError(f"torn or another key's: key {keys[~whole][0]}: "
                             f"{rows[~whole][0].tolist()}")
    wrong = (versions < oldest) | (versions > newest)
    if wrong.any():
        oldest, newest = (np.broadcast_to(bound, len(keys))
                          for bound in (oldest, newest))
        raise AssertionError(
            f"stale: key {keys[wrong][0]} has version {versions[wrong][0]}, "
            f"none of {oldest[wrong][0]} to {newest[wrong][0]}")


def check_equal(keys, rows, expected, what):
    """Rows, pooled or not, that can only be one thing."""
    same = (rows == expected).all(axis=1)
    if not same.all():
        raise AssertionError(
            f"{what} {np.flatnonzero(~same)[0]} of {len(rows)} is wrong, keys "
            f"{keys[:8]}...: {rows[~same][0].tolist()} is not "
            f"{expected[~same][0].tolist()}")
