"""Turns what callers give into arrays as they travel, or refuses it.

Everything works on whole arrays; nothing loops over keys. What numpy makes an
array of is taken, contiguous or not. ValueError and TypeError name the
argument, what was given and what is allowed.
"""

from typing import Optional, Tuple

import numpy as np
import numpy.typing as npt

from gatherd import data_types

_INT64_MAX = np.iinfo(np.int64).max


def _one_dimensional(name: str, values: npt.ArrayLike) -> np.ndarray:
    array = np.asarray(values)
    if array.ndim != 1:
        raise ValueError(f"{name} has shape {array.shape}; it must have one "
                         "dimension")
    return array


def _integers(name: str, values: npt.ArrayLike) -> np.ndarray:
    array = _one_dimensional(name, values)
    # An empty list is of float64.
    if array.size > 0 and array.dtype.kind not in "iu":
        raise TypeError(f"{name} has dtype {array.dtype}; integers are wanted")
    return array


def keys_array(keys: npt.ArrayLike) -> np.ndarray:
    """Keys (n,), from integers of any width: as uint32 if their type is an
    unsigned one of up to 32 bits, else as int64."""
    array = _integers("keys", keys)
    if array.dtype.kind == "u" and array.dtype.itemsize <= 4:
        return array.astype("<u4", copy=False)
    # As an int: numpy compares uint64 with int64 by way of float64.
    if array.dtype.kind == "u" and int(array.max(initial=0)) > _INT64_MAX:
        raise ValueError(
            f"keys has {array.max()}, and int64 ends at {_INT64_MAX}; "
            "keys.view(numpy.int64) reads the same bits as signed")
    return array.astype("<i8", copy=False)


def offsets_array(offsets: npt.ArrayLike, num_keys: int) -> np.ndarray:
    """Starts of bags as uint32 (num_bags,): from 0, never falling."""
    array = _integers("offsets", offsets)
    if array.size == 0:
        if num_keys > 0:
            raise ValueError(
                f"offsets is empty, but there are {num_keys} keys")
        return array.astype("<u4")
    if array[0] != 0:
        raise ValueError(f"offsets[0] is {array[0]}; it must be 0")
    falls = array[1:] < array[:-1]
    if falls.any():
        i = int(falls.argmax())
        raise ValueError(f"offsets[{i + 1}] is {array[i + 1]}, less than "
                         f"offsets[{i}], {array[i]}")
    if array[-1] > num_keys:
        i = int((array > num_keys).argmax())
        raise ValueError(f"offsets[{i}] is {array[i]}, but there are only "
                         f"{num_keys} keys")
    return array.astype("<u4", copy=False)


def _per_key_floats(name: str, values: npt.ArrayLike,
                    num_keys: int) -> np.ndarray:
    """float32 (num_keys,), from real numbers of any type."""
    array = _one_dimensional(name, values)
    if array.size != num_keys:
        raise ValueError(f"{name} has {array.size} values for {num_keys} keys")
    if array.size > 0 and array.dtype.kind not in "fiu":
        raise TypeError(f"{name} has dtype {array.dtype}; real numbers are "
                        "wanted")
    return array.astype("<f4", copy=False)


def weights_array(weights: npt.ArrayLike, num_keys: int) -> np.ndarray:
    """Weights as float32 (num_keys,)."""
    return _per_key_floats("weights", weights, num_keys)


def _type_of_values(dtype: np.dtype,
                    name: Optional[str]) -> data_types.DataType:
    """The type that `values` of `dtype` are sent as; `name` if it is told."""
    taken = {
        np.dtype(np.float32): data_types.FLOAT32,
        np.dtype(np.float64): data_types.FLOAT32,  # rounded
        np.dtype(np.float16): data_types.FLOAT16,
        np.dtype(np.int8): data_types.INT8,
    }
    if name is not None:
        if name not in data_types.BY_NAME:
            raise ValueError(f"data_type is {name!r}; allowed are "
                             f"{', '.join(data_types.BY_NAME)}")
        if name == data_types.BFLOAT16.name:
            taken[np.dtype(np.uint16)] = data_types.BFLOAT16
    data_type = taken.get(dtype.newbyteorder("="))
    if data_type is None:
        raise TypeError(
            f"values has dtype {dtype}; taken are float32, float16, float64 "
            "(rounded to float32), int8 with scales, and uint16 as the bits "
            "of data_type='bfloat16'")
    if name is not None and data_type.name != name:
        raise TypeError(f"values has dtype {dtype}, which is no {name}; leave "
                        "data_type out and the server converts")
    return data_type


def _with_scales(elements: np.ndarray, scales: np.ndarray) -> np.ndarray:
    """Rows of int8: uint8 (n, dim + 4), elements and then the scale."""
    num_rows, dim = elements.shape
    rows = np.empty((num_rows, dim + 4), np.uint8)
    rows[:, :dim] = elements.view(np.uint8)
    rows[:, dim:] = np.ascontiguousarray(scales).view(np.uint8).reshape(-1, 4)
    return rows


def values_array(
        values: npt.ArrayLike, num_keys: int, data_type: Optional[str],
        scales: Optional[npt.ArrayLike],
) -> Tuple[data_types.DataType, np.ndarray]:
    """Rows for `num_keys` keys as they travel, and their type.

    Args:
      values: (num_keys, dim) of float32, float16, float64 (rounded to float32),
        int8 (with `scales`), or uint16 (with data_type="bfloat16").
      data_type: None for what the dtype says.
      scales: real numbers (num_keys,), for int8 only.
    """
    array = np.asarray(values)
    if array.ndim != 2 and not array.size == num_keys == 0:
        raise ValueError(f"values has shape {array.shape}; it must be "
                         "(number of keys, dim)")
    if array.shape[0] != num_keys:
        raise ValueError(f"values has {array.shape[0]} rows for {num_keys} "
                         "keys")
    kind = _type_of_values(array.dtype, data_type)
    if kind is not data_types.INT8:
        if scales is not None:
            raise ValueError(f"scales are for values of int8, not {kind.name}")
        # To float32; what is beyond it becomes infinite, as on the server.
        with np.errstate(over="ignore"):
            return kind, array.astype(kind.dtype, copy=False)
    if scales is None:
        raise ValueError("values of int8 need scales, one for each key")
    scales = _per_key_floats("scales", scales, num_keys)
    if array.size == 0:
        return kind, np.empty(0, np.uint8)
    return kind, _with_scales(array, scales)
