"""How rows of each type are laid out and converted: the plain reference.

An array of rows is a 2-d array of one type's own layout: float32, float16,
uint16 for the bits of bfloat16, uint8 for the bytes of an int8 row.
"""

import numpy as np

from tests.integration.harness.api import BFLOAT16, FLOAT16, FLOAT32, INT8


def row_bytes(data_type, dim):
    return {FLOAT32: 4 * dim, FLOAT16: 2 * dim, BFLOAT16: 2 * dim,
            INT8: dim + 4}[data_type]


def parse_rows(data_type, values, num_rows):
    """The rows in a message's bytes."""
    dtype = {FLOAT32: "<f4", FLOAT16: "<f2", BFLOAT16: "<u2",
             INT8: "u1"}[data_type]
    return np.frombuffer(values, dtype).reshape(num_rows, -1)


def to_float32(data_type, rows):
    """Exact, but for int8 where element * scale is rounded once."""
    if data_type == BFLOAT16:
        return (rows.astype(np.uint32) << 16).view(np.float32)
    if data_type == INT8:
        elements = rows[:, :-4].view(np.int8).astype(np.float32)
        scales = np.ascontiguousarray(rows[:, -4:]).view("<f4")
        with np.errstate(invalid="ignore", over="ignore"):
            return elements * scales
    return rows.astype(np.float32)


def from_float32(data_type, rows):
    rows = np.ascontiguousarray(rows, np.float32)
    if data_type == FLOAT32:
        return rows
    if data_type == FLOAT16:
        with np.errstate(over="ignore"):
            return rows.astype(np.float16)
    if data_type == BFLOAT16:
        return _to_bfloat16(rows)
    return _to_int8(rows)


def convert(source, target, rows):
    """The same type in and out keeps every bit."""
    if source == target:
        return rows
    return from_float32(target, to_float32(source, rows))


def _to_bfloat16(rows):
    bits = rows.view(np.uint32)
    tie_to_even = (bits >> 16) & 1
    rounded = ((bits.astype(np.uint64) + 0x7FFF + tie_to_even) >> 16).astype(
        np.uint16)
    quiet_nan = ((bits >> 16) | 0x40).astype(np.uint16)
    return np.where(np.isnan(rows), quiet_nan, rounded)


def _to_int8(rows):
    finite = np.where(np.isfinite(rows), rows, np.float32(0))
    scales = np.abs(finite).max(axis=1, keepdims=True) / np.float32(127)
    divisors = np.where(scales > 0, scales, np.float32(1))
    elements = np.clip(np.rint(finite / divisors), -127, 127)
    elements = np.where(np.isposinf(rows), 127, elements)
    elements = np.where(np.isneginf(rows), -127, elements)
    return np.hstack([
        elements.astype(np.int8).view(np.uint8),
        np.ascontiguousarray(scales, "<f4").view(np.uint8),
    ])


def assert_same_rows(data_type, rows, expected, message=""):
    """Bit for bit, but any NaN equals any NaN."""
    rows, expected = np.asarray(rows), np.asarray(expected)
    if data_type == BFLOAT16:
        rows, expected = (to_float32(BFLOAT16, r) for r in (rows, expected))
    if data_type == INT8:
        np.testing.assert_array_equal(rows, expected, message)
        return
    bits = np.uint16 if rows.dtype == np.float16 else np.uint32
    both_nan = np.isnan(rows) & np.isnan(expected)
    same = rows.view(bits) == expected.view(bits)
    assert (both_nan | same).all(), (
        f"{message}: {rows[~(both_nan | same)][:5]} is not "
        f"{expected[~(both_nan | same)][:5]}")
