"""Clients that behave: every answer that they get is checked.

Each function is a process's work until `shared.stop` and returns a Counter of
what it did. A call that fails fails the soak, unless the server refused it for
want of room.
"""

import collections
import time

import numpy as np

import gatherd
from tests.integration.harness import row_format
from tests.integration.harness.api import INT8
from tests.integration.soak import rows, tables

# A client is exchanged for one with a new connection after so many calls.
CALLS_PER_CONNECTION = 200
ROW_TYPES = (None, "float32", "float16", "bfloat16", "int8")
MAX_BAG_KEYS = 64


def size_of(rng, max_keys=tables.NUM_KEYS):
    """1 to max_keys; as many small ones as large ones, by magnitude."""
    return int(2 ** rng.uniform(0, np.log2(max_keys)))


class Caller:
    """Makes calls, repeating those that were refused for want of room."""

    def __init__(self, shared):
        self.shared, self.counts = shared, collections.Counter()
        self._client, self._calls_left = None, 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self._client is not None:
            self._client.close()

    def __call__(self, method, *args, **fields):
        if self._calls_left == 0:
            self.__exit__()
            self._client = self.shared.connect()
            self._calls_left = CALLS_PER_CONNECTION
        self._calls_left -= 1
        give_up = time.monotonic() + tables.CALL_TIMEOUT_S
        while True:
            try:
                result = getattr(self._client, method)(*args, **fields)
                self.counts[method] += 1
                return result
            except gatherd.GatherdError as error:
                if (error.code.name != "RESOURCE_EXHAUSTED"
                        or time.monotonic() > give_up):
                    raise
                self.counts["refused"] += 1
                time.sleep(0.05)


def write(shared, seed, table, own_keys):
    """Writes the next versions of keys that nobody else writes."""
    rng = np.random.default_rng(seed)
    begun, acknowledged = shared.versions(table)
    with Caller(shared) as call:
        while not shared.stop.is_set():
            keys = rng.choice(own_keys, size_of(rng, len(own_keys)),
                              replace=False)
            versions = begun[keys] + 1
            begun[keys] = versions
            erased = tables.is_erase(table, versions)
            kept = keys[~erased]
            values = rows.rows_of(kept, versions[~erased], tables.DIMS[table])
            if rng.random() < 0.5:  # what the table holds, or converted there
                values = values.astype(np.float16)
            call("update", table, kept, values)
            if erased.any():
                call("erase", table, keys[erased])
            acknowledged[keys] = versions
            call.counts["rows written"] += len(keys)
    return call.counts


def rewrite(shared, seed):
    """Writes and erases rows of the tables without versions."""
    rng, values = np.random.default_rng(seed), tables.fixed_rows()
    with Caller(shared) as call:
        while not shared.stop.is_set():
            keys = rng.integers(0, tables.NUM_KEYS,
                                size_of(rng, tables.MAX_KEYS_PER_WRITE))
            call("update_many", [gatherd.Update("fixed", keys, values[keys]),
                                 gatherd.Update("passing", keys,
                                                values[keys])])
            call("update", "fixed", keys, np.zeros_like(values[keys]),
                 mode="add")
            call("erase", "passing", keys[::2])
            call.counts["rows written"] += 2 * len(keys)
    return call.counts


class _Reader:
    """One kind of lookup a method: plain, pooled, of several tables."""

    def __init__(self, shared, seed, call):
        self.shared, self.call = shared, call
        self.rng = np.random.default_rng(seed)
        self.fixed = tables.fixed_rows()

    def _keys(self, max_keys=tables.NUM_KEYS):
        return self.rng.integers(0, tables.NUM_KEYS,
                                 size_of(self.rng, max_keys))

    def _type(self):
        return ROW_TYPES[self.rng.integers(len(ROW_TYPES))]

    def _count(self, keys):
        self.call.counts["rows checked"] += len(keys)

    def versioned(self, table):
        keys = self._keys()
        oldest = self.shared.versions(table)[1][keys]
        result = self.call("lookup", table, keys, output_type=self._type())
        tables.check_versioned(self.shared, table, keys, oldest, result)
        self._count(keys)

    def check_passing(self, keys, result):
        expected = np.where(result.missing[:, None], 0, self.fixed[keys])
        rows.check_equal(keys, result.floats(), expected, "row")
        self._count(keys)

    def passing(self):
        keys = self._keys()
        self.check_passing(keys, self.call("lookup", "passing", keys,
                                           output_type=self._type()))

    def pooled(self):
        pooling = ("sum", "mean")[self.rng.integers(2)]
        # Means of a power of two of rows are exact.
        sizes = 2 ** self.rng.integers(
            0, int(np.log2(MAX_BAG_KEYS)) + 1,
            size_of(self.rng, tables.NUM_KEYS // MAX_BAG_KEYS))
        offsets = np.cumsum(sizes) - sizes
        keys = self.rng.integers(0, tables.NUM_KEYS, sizes.sum())
        expected = np.add.reduceat(self.fixed[keys], offsets)
        if pooling == "mean":
            expected /= sizes[:, None].astype(np.float32)
        kind = (None, "float16", "int8")[self.rng.integers(3)]
        if kind == "float16":
            expected = expected.astype(np.float16).astype(np.float32)
        elif kind == "int8":
            expected = row_format.to_float32(
                INT8, row_format.from_float32(INT8, expected))
        result = self.call("lookup", "fixed", keys, pooling=pooling,
                           offsets=offsets, output_type=kind)
        rows.check_equal(keys, result.floats(), expected, f"{pooling} of bag")
        self._count(keys)

    def several(self):
        keys = [self._keys(2048) for _ in range(4)]
        oldest = [self.shared.versions(table)[1][own]
                  for table, own in zip(tables.VERSIONED, keys)]
        results = self.call("lookup_many", [
            gatherd.Lookup(table, own, output_type=self._type())
            for table, own in zip(tables.DIMS, keys)])
        for i, table in enumerate(tables.VERSIONED):
            tables.check_versioned(self.shared, table, keys[i], oldest[i],
                                   results[i])
            self._count(keys[i])
        rows.check_equal(keys[2], results[2].floats(), self.fixed[keys[2]],
                         "row")
        self._count(keys[2])
        self.check_passing(keys[3], results[3])


def read(shared, seed):
    with Caller(shared) as call:
        reader = _Reader(shared, seed, call)
        kinds = [*(lambda table=table: reader.versioned(table)
                   for table in tables.VERSIONED),
                 reader.passing, reader.pooled, reader.several]
        while not shared.stop.is_set():
            kinds[reader.rng.integers(len(kinds))]()
    return call.counts
