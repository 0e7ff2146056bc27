"""What calls ask for. Names and meaning are those of gatherd.proto.

Arguments are checked when a request is made into a message, before it is sent.
"""

import dataclasses
from typing import Any, Mapping, Optional

import numpy.typing as npt

from gatherd import arrays
from gatherd import data_types
from gatherd import varint

_POOLINGS = {"none": 0, "sum": 1, "mean": 2}
_POLICIES = {"default_row": 1, "error": 2}
_MODES = {"set": 0, "add": 1, "set_existing": 2}
_DATA_TYPES = {name: t.number for name, t in data_types.BY_NAME.items()}

# Of a field that says: as the table has it.
_UNSPECIFIED = 0


@dataclasses.dataclass(frozen=True, eq=False)
class Lookup:
    """One read of one table.

    Attributes:
      table: its name.
      keys: integers (n,), in any order, duplicates allowed. Unsigned ones of
        up to 32 bits travel as 4 bytes instead of 8, in every request.
      pooling: "none": a row for each key; "sum", "mean": a row for each bag.
      offsets: pooling only: integers (num_bags,), where each bag starts in
        `keys`: from 0, never falling (torch.nn.EmbeddingBag's convention).
      weights: pooling only: none, or real numbers (n,).
      output_type: "float32", "float16", "bfloat16" or "int8"; None: the
        table's own.
      missing_key_policy: "default_row", or "error" to fail the call with
        NOT_FOUND; None: as the table is configured.
    """

    table: str
    keys: npt.ArrayLike
    pooling: str = "none"
    offsets: Optional[npt.ArrayLike] = None
    weights: Optional[npt.ArrayLike] = None
    output_type: Optional[str] = None
    missing_key_policy: Optional[str] = None


@dataclasses.dataclass(frozen=True, eq=False)
class Update:
    """One write to one table.

    Attributes:
      table: its name.
      keys: integers (n,).
      values: (n, dim): float32, float16, float64 (sent as float32), int8 with
        `scales`, or uint16 with data_type="bfloat16". Converted to the table's
        type by the server.
      mode: "set" inserts or overwrites, of equal keys the last counts; "add"
        adds to the row there is or to the default row; "set_existing"
        overwrites and inserts nothing.
      data_type: None: what the dtype of `values` says.
      scales: with int8: real numbers (n,); an element's value is element *
        scale.
    """

    table: str
    keys: npt.ArrayLike
    values: npt.ArrayLike
    mode: str = "set"
    data_type: Optional[str] = None
    scales: Optional[npt.ArrayLike] = None


@dataclasses.dataclass(frozen=True, eq=False)
class Erase:
    """Removes integers `keys` (n,) from `table`."""

    table: str
    keys: npt.ArrayLike


def _number(name: str, value: Any, numbers: Mapping[str, int]) -> int:
    """The enum's number of a word."""
    if not isinstance(value, str) or value not in numbers:
        allowed = ", ".join(repr(word) for word in numbers)
        raise ValueError(f"{name} is {value!r}; allowed are {allowed}")
    return numbers[value]


def pooling_number(pooling: Any) -> int:
    """The enum's number of Lookup.pooling; 0 is "none"."""
    return _number("pooling", pooling, _POOLINGS)


def _optional_number(name: str, value: Optional[str],
                     numbers: Mapping[str, int]) -> int:
    return _UNSPECIFIED if value is None else _number(name, value, numbers)


def _table_name(table: Any) -> str:
    if not isinstance(table, str):
        raise TypeError(f"table is {table!r}; its name is wanted, a str")
    return table


def _fill_keys(keys: npt.ArrayLike, message: Any) -> int:
    """Their number. Keys of 32 bits take half the bytes."""
    array = arrays.keys_array(keys)
    if array.dtype.itemsize == 4:
        message.keys32 = array.tobytes()
    else:
        message.keys = array.tobytes()
    return array.size


@dataclasses.dataclass(frozen=True)
class LookupShape:
    """What the answer to a lookup must fit."""

    num_keys: int
    num_rows: int


def fill_lookup(lookup: Lookup, message: Any) -> LookupShape:
    """Writes `lookup` into an empty message."""
    message.table = _table_name(lookup.table)
    num_keys = _fill_keys(lookup.keys, message)
    message.pooling = pooling_number(lookup.pooling)
    message.output_type = _optional_number(
        "output_type", lookup.output_type, _DATA_TYPES)
    message.missing_key_policy = _optional_number(
        "missing_key_policy", lookup.missing_key_policy, _POLICIES)
    if lookup.pooling == "none":
        for name in ("offsets", "weights"):
            if getattr(lookup, name) is not None:
                raise ValueError(f"{name} are for pooling='sum' or 'mean'")
        return LookupShape(num_keys, num_keys)
    offsets = arrays.offsets_array(
        () if lookup.offsets is None else lookup.offsets, num_keys)
    message.offsets = varint.encode(offsets)
    if lookup.weights is not None:
        weights = arrays.weights_array(lookup.weights, num_keys)
        message.weights = weights.tobytes()
    return LookupShape(num_keys, offsets.size)


def fill_update(update: Update, message: Any) -> None:
    """Writes `update` into an empty message."""
    message.table = _table_name(update.table)
    num_keys = _fill_keys(update.keys, message)
    data_type, values = arrays.values_array(
        update.values, num_keys, update.data_type, update.scales)
    message.data_type = data_type.number
    message.values = values.tobytes()
    message.mode = _number("mode", update.mode, _MODES)


def fill_erase(erase: Erase, message: Any) -> None:
    """Writes `erase` into an empty message."""
    message.table = _table_name(erase.table)
    _fill_keys(erase.keys, message)
