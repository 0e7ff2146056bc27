"""What calls answer. Names and meaning are those of gatherd.proto."""

import dataclasses
from typing import Any, Iterator, Optional, Tuple

import numpy as np

from gatherd import data_types
from gatherd import errors


@dataclasses.dataclass(frozen=True, eq=False)
class TableRows:
    """The rows that answer one lookup; unpacks into `rows, missing`.

    Attributes:
      rows: (num_rows, dim), num_rows being the number of keys or, under
        pooling, of bags. float32, float16, the bits of bfloat16 as uint16, or
        int8. A view of the reply, read-only: copy() what is to be changed.
      missing: bool (n,): which keys the table does not hold, also under
        pooling.
      scales: float32 (num_rows,) of int8 rows, else None.
      data_type: "float32", "float16", "bfloat16" or "int8".
      num_missing: how many keys are missing.
      revision: every write acknowledged up to it is in `rows`; 0 from a
        ShardedClient, whose servers count for themselves.
      lost_servers: of a ShardedClient: those whose keys count as missing
        since they did not answer.
    """

    rows: np.ndarray
    missing: np.ndarray
    scales: Optional[np.ndarray]
    data_type: str
    num_missing: int
    revision: int
    lost_servers: Tuple[str, ...] = ()

    def __iter__(self) -> Iterator[np.ndarray]:
        return iter((self.rows, self.missing))

    def floats(self) -> np.ndarray:
        """The rows as float32 (num_rows, dim), whatever their type."""
        if self.scales is not None:
            # Of the server's own scales no product overflows; of written ones
            # it may, to infinity.
            with np.errstate(over="ignore", invalid="ignore"):
                return self.rows * self.scales[:, None]
        if self.data_type == data_types.BFLOAT16.name:
            return (self.rows.astype(np.uint32) << 16).view(np.float32)
        return self.rows.astype(np.float32, copy=False)


@dataclasses.dataclass(frozen=True)
class UpdateResult:
    """Counts of distinct keys; lookups from now on see up to `revision`."""

    num_updated: int
    num_inserted: int
    num_skipped: int
    num_evicted: int
    revision: int


@dataclasses.dataclass(frozen=True)
class EraseResult:
    """Distinct keys that were there; see UpdateResult."""

    num_erased: int
    revision: int


@dataclasses.dataclass(frozen=True)
class TierInfo:
    """One place where rows of a table live."""

    kind: str  # gpu, host, rocksdb or redis
    capacity_rows: int  # 0: unbounded
    num_rows: int
    memory_bytes: int  # rows and index
    rows_per_device: Tuple[int, ...]  # of a gpu tier


@dataclasses.dataclass(frozen=True)
class TableInfo:
    """A table and its tiers, the fastest first."""

    name: str
    data_type: str
    dim: int
    key_space: str  # dense or hashed
    num_rows: int
    revision: int
    tiers: Tuple[TierInfo, ...]


@dataclasses.dataclass(frozen=True)
class ServerInfo:
    """What a server is and what it takes."""

    version: str
    backend: str  # cuda or cpu
    devices: Tuple[str, ...]  # one line for each GPU
    max_keys_per_request: int
    max_message_bytes: int


def _data_type(number: int) -> data_types.DataType:
    if number not in data_types.BY_NUMBER:
        raise errors.internal(f"data_type {number} is unknown to this client")
    return data_types.BY_NUMBER[number]


def _missing_flags(bitmap: bytes, num_keys: int) -> np.ndarray:
    if not bitmap:
        return np.zeros(num_keys, bool)
    if len(bitmap) != (num_keys + 7) // 8:
        raise errors.internal(
            f"missing has {len(bitmap)} bytes for {num_keys} keys")
    return np.unpackbits(np.frombuffer(bitmap, np.uint8), count=num_keys,
                         bitorder="little").view(bool)


def table_rows(message: Any, values: memoryview, num_keys: int,
               num_rows: int) -> TableRows:
    """Reads the answer to a lookup of so many keys and rows.

    `values` are those of `message`, which has none itself.

    GatherdError, INTERNAL, if the fields contradict each other or the lookup:
    nobody indexes into a reply that was not checked.
    """
    data_type = _data_type(message.data_type)
    dim = message.dim
    if not 1 <= dim <= data_types.MAX_DIM:
        raise errors.internal(
            f"dim is {dim}; allowed is 1 to {data_types.MAX_DIM}")
    if message.num_rows != num_rows:
        raise errors.internal(
            f"has {message.num_rows} rows; {num_rows} were asked")
    num_bytes = num_rows * data_type.row_bytes(dim)
    if len(values) != num_bytes:
        raise errors.internal(f"values has {len(values)} bytes; {num_rows} "
                              f"rows have {num_bytes}")
    scales = None
    if data_type is data_types.INT8:
        raw = np.frombuffer(values, np.uint8).reshape(num_rows, dim + 4)
        rows = raw[:, :dim].view(np.int8)
        scales = np.ascontiguousarray(raw[:, dim:]).view("<f4")[:, 0]
    else:
        rows = np.frombuffer(values, data_type.dtype).reshape(num_rows, dim)
    return TableRows(
        rows=rows,
        missing=_missing_flags(message.missing, num_keys),
        scales=scales,
        data_type=data_type.name,
        num_missing=message.num_missing,
        revision=message.revision)


def update_result(message: Any) -> UpdateResult:
    return UpdateResult(message.num_updated, message.num_inserted,
                        message.num_skipped, message.num_evicted,
                        message.revision)


def erase_result(message: Any) -> EraseResult:
    return EraseResult(message.num_erased, message.revision)


def table_info(message: Any) -> TableInfo:
    tiers = tuple(
        TierInfo(tier.kind, tier.capacity_rows, tier.num_rows,
                 tier.memory_bytes, tuple(tier.rows_per_device))
        for tier in message.tiers)
    return TableInfo(message.name, _data_type(message.data_type).name,
                     message.dim, message.key_space, message.num_rows,
                     message.revision, tiers)


def server_info(message: Any) -> ServerInfo:
    return ServerInfo(message.version, message.backend,
                      tuple(message.devices), message.max_keys_per_request,
                      message.max_message_bytes)
