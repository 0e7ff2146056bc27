"""Rows that tell their key and version, and the processes that check them.

Arrays in shared memory hold, for each key, the version that a writer has
begun to write, the last one that was acknowledged, and the revision of its
acknowledgement. A reader looks at `acknowledged` before it asks and at
`begun` after the reply: a row is right if all of it is of one version in
between. And it is as new as all writes up to the revision of the reply.
"""

import dataclasses

import numpy as np

from tests.integration.harness.api import Client

DIM = 48
BATCH_KEYS = 64
# Of hashed tables every fourth version of a key is its absence.
ERASE_EVERY = 4


def rows_of(keys, versions):
    """Bit patterns, not numbers: version, key, then a mix of both."""
    keys = np.asarray(keys, np.uint64)[:, None]
    versions = np.asarray(versions, np.uint64)[:, None]
    mixed = (keys * np.uint64(0x9E3779B97F4A7C15)
             + versions * np.uint64(0xC2B2AE3D27D4EB4F)
             + np.arange(DIM, dtype=np.uint64) * np.uint64(0x165667B19E3779F9))
    mixed ^= mixed >> np.uint64(29)
    words = (mixed & np.uint64(0xFFFFFFFF)).astype(np.uint32)
    words[:, 0], words[:, 1] = versions[:, 0], keys[:, 0]
    return words.view(np.float32)


def is_erase(table, version):
    return table == "hashed" and version % ERASE_EVERY == 0


@dataclasses.dataclass
class Stress:
    """What the processes of one run share."""
    address: str
    table: str
    num_keys: int
    begun: object  # arrays of int64
    acknowledged: object
    revisions: object
    ready: object  # a barrier that everyone passes before the first call
    stop: object  # an event

    def versions(self):
        """Arrays over the shared memory; aligned stores are not torn."""
        return [np.frombuffer(array, np.int64) for array in (
            self.begun, self.acknowledged, self.revisions)]

    def connect(self):
        client = Client(self.address)
        self.ready.wait(60)
        return client


def write(stress, seed, keys):
    """Writes batches of its own keys until told to stop; the count."""
    begun, acknowledged, revisions = stress.versions()
    rng, count, client = np.random.default_rng(seed), 0, stress.connect()
    while not stress.stop.is_set():
        chosen = rng.choice(keys, BATCH_KEYS, replace=False)
        versions = begun[chosen] + 1
        begun[chosen] = versions
        erased = np.array([is_erase(stress.table, v) for v in versions])
        if erased.any():
            result = client.erase(stress.table, chosen[erased])
            assert result.num_erased == erased.sum(), result
            revisions[chosen[erased]] = result.revision
        if not erased.all():
            kept = chosen[~erased]
            result = client.update(stress.table, kept,
                                   rows_of(kept, versions[~erased]))
            revisions[kept] = result.revision
        # After the revision: whoever sees this version sees a revision that
        # is its own or later.
        acknowledged[chosen] = versions
        count += 1
    return count


def read(stress, seed):
    """Reads and checks random batches until told to stop; the count."""
    begun, acknowledged, revisions = stress.versions()
    rng, count, client = np.random.default_rng(seed), 0, stress.connect()
    while not stress.stop.is_set():
        keys = rng.integers(0, stress.num_keys, 4 * BATCH_KEYS)
        oldest = acknowledged[keys]
        result = client.lookup(stress.table, keys)
        later = acknowledged[keys]
        visible = revisions[keys] <= result.revision
        oldest = np.where(visible, later, oldest)
        newest = begun[keys]
        words = np.frombuffer(result.values, np.uint32).reshape(-1, DIM)
        missing = _missing_mask(result)
        check_present(keys[~missing], words[~missing], oldest[~missing],
                       newest[~missing])
        for key, first, last in zip(keys[missing], oldest[missing],
                                    newest[missing]):
            assert stress.table == "evicting" or any(
                is_erase(stress.table, v) for v in range(first, last + 1)), (
                f"key {key} is missing; versions {first} to {last}")
        count += 1
    return count


def _missing_mask(result):
    if not result.missing:
        return np.zeros(result.num_rows, bool)
    bits = np.unpackbits(np.frombuffer(result.missing, np.uint8),
                         bitorder="little", count=result.num_rows)
    assert bits.sum() == result.num_missing, "bits and count differ"
    return bits.astype(bool)


def check_present(keys, words, oldest, newest):
    versions = words[:, 0].astype(np.int64)
    whole = (words == rows_of(keys, versions).view(np.uint32)).all(axis=1)
    assert whole.all(), (
        f"torn: key {keys[~whole][0]}: {words[~whole][0]}")
    stale = (versions < oldest) | (versions > newest)
    assert not stale.any(), (
        f"key {keys[stale][0]} has version {versions[stale][0]}, not one "
        f"of {oldest[stale][0]} to {newest[stale][0]}")


def run(role, stress, outcomes, *args):
    """A child process's main: puts (role, count or text of the failure)."""
    try:
        outcomes.put((role.__name__, role(stress, *args)))
    except BaseException as error:
        stress.stop.set()
        outcomes.put((role.__name__, f"{type(error).__name__}: {error}"))


def first_write(client, stress):
    """Version 1 of every key."""
    keys = np.arange(stress.num_keys)
    client.update(stress.table, keys, rows_of(keys, np.ones(len(keys))))
    begun, acknowledged, _ = stress.versions()
    begun[:] = acknowledged[:] = 1
