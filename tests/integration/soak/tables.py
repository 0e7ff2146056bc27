"""What a soak's server holds, and what its clients share and know of it.

dense, hashed   every row tells its version; one writer owns each key
fixed           each key has one row, written again and again: a write that is
                cut off changes nothing that a reader could see
passing         the same, but erased and evicted: a row is right or absent
"""

import dataclasses

import numpy as np

import gatherd
from tests.integration.harness.process import config_of, table_of
from tests.integration.soak import rows

NUM_KEYS = 1 << 16  # of each table; the largest request asks for as many
DIMS = {"dense": 32, "hashed": 32, "fixed": 64, "passing": 64}
VERSIONED = ("dense", "hashed")
# Every fourth version of a key of `hashed` is its absence.
ERASE_EVERY = 4
MAX_KEYS_PER_WRITE = 8192

# Far above what any call takes, so that only what wants to be cut off is.
CALL_TIMEOUT_S = 120


def config():
    return config_of([
        table_of("dense", DIMS["dense"], NUM_KEYS, "dense"),
        table_of("hashed", DIMS["hashed"], NUM_KEYS, data_type="float16"),
        table_of("fixed", DIMS["fixed"], NUM_KEYS),
        table_of("passing", DIMS["passing"], NUM_KEYS // 4, data_type="int8",
                 eviction="lru"),
    ], log={"format": "json"})


@dataclasses.dataclass
class Shared:
    """What the processes of one soak share."""
    address: str
    metrics_address: str
    stop: object  # an event
    # {table: array of int64 in shared memory}: for each key the version that
    # its writer has begun to write, and the last that was acknowledged.
    begun: dict
    acknowledged: dict

    def connect(self):
        return gatherd.Client(self.address, timeout=CALL_TIMEOUT_S,
                              max_attempts=1)

    def versions(self, table):
        """begun, acknowledged; aligned stores are not torn."""
        return (np.frombuffer(self.begun[table], np.int64),
                np.frombuffer(self.acknowledged[table], np.int64))


def make_shared(server, context):
    def arrays():
        return {table: context.RawArray("q", NUM_KEYS) for table in VERSIONED}
    return Shared(server.address, server.metrics_address, context.Event(),
                  arrays(), arrays())


def fixed_rows():
    """Of `fixed` and `passing`, by key."""
    return rows.rows_of(np.arange(NUM_KEYS), 0, DIMS["fixed"])


def is_erase(table, versions):
    return (np.asarray(versions) % ERASE_EVERY == 0) & (table == "hashed")


def first_write(shared):
    """Version 1 of every key, and all rows of the tables without versions."""
    with shared.connect() as client:
        for first in range(0, NUM_KEYS, MAX_KEYS_PER_WRITE):
            keys = np.arange(first, first + MAX_KEYS_PER_WRITE)
            for table, dim in DIMS.items():
                version = int(table in VERSIONED)
                client.update(table, keys, rows.rows_of(keys, version, dim))
    for table in VERSIONED:
        for versions in shared.versions(table):
            versions[:] = 1


def check_versioned(shared, table, keys, oldest, result):
    """`oldest`: what was acknowledged before the lookup began."""
    newest = shared.versions(table)[0][keys]
    missing = result.missing
    rows.check_rows(keys[~missing], result.floats()[~missing],
                    oldest[~missing], newest[~missing])
    erased = newest // ERASE_EVERY * ERASE_EVERY >= oldest
    lost = missing & ~(erased & (table == "hashed"))
    if lost.any():
        raise AssertionError(
            f"{table}: key {keys[lost][0]} is missing; versions "
            f"{oldest[lost][0]} to {newest[lost][0]}")


def check_all(shared):
    """Every row of the server, once; the number of rows."""
    keys = np.arange(NUM_KEYS)
    with shared.connect() as client:
        for table in VERSIONED:
            oldest = shared.versions(table)[1].copy()
            check_versioned(shared, table, keys, oldest,
                            client.lookup(table, keys))
        result = client.lookup("fixed", keys)
        rows.check_equal(keys, result.floats(), fixed_rows(), "row")
    return 3 * NUM_KEYS
