"""Vectors of items and users with gatherd's Python client and numpy.

docs/clients.md says how to run it, and shows it beside items.cc, which does
the same.
"""

import sys

import gatherd
import numpy as np

NUM_ITEMS = 25_000
DIM = 64


def write(client):
    keys = np.arange(NUM_ITEMS)
    values = np.random.default_rng(1).random((NUM_ITEMS, DIM), np.float32)
    for start in range(0, NUM_ITEMS, 10_000):
        part = slice(start, start + 10_000)
        client.update("items", keys[part], values[part])
    client.update("users", [7, 8], np.ones((2, 16)), mode="set")



def look_up(client):
    rows, missing = client.lookup("items", [3, 1, -5])
    print(rows.shape, rows.dtype, "missing:", missing.tolist())


def look_up_pooled(client):
    # Two bags: keys[0:3] and keys[3:5].
    pooled = client.lookup("items", [3, 1, 2, 9, 9],
                           pooling="sum", offsets=[0, 3],
                           weights=[0.5, 0.25, 0.25, 1, 1],
                           output_type="float32")
    print(pooled.rows.shape, pooled.rows.dtype, "revision of several writes:",
          pooled.revision >= 3)


def look_up_several(client):
    users, items = client.lookup_many([
        gatherd.Lookup("users", [7]),
        gatherd.Lookup("items", [3, 1, 2], output_type="int8"),
    ])
    scores = items.floats()[:, :16] @ users.rows[0]
    print("scores:", scores.shape)


def fail(client):
    try:
        client.lookup("items", [-5], missing_key_policy="error",
                      timeout=0.5, max_attempts=1)
    except gatherd.GatherdError as error:
        print(error.code.name, "names the key:", "-5" in error.message)


def erase(client):
    print("erased:", client.erase("items", np.arange(NUM_ITEMS)).num_erased)


def main():
    address = sys.argv[1] if len(sys.argv) > 1 else "localhost:7400"
    with gatherd.Client(address, timeout=5.0) as client:
        try:
            write(client)
            look_up(client)
            look_up_pooled(client)
            look_up_several(client)
            fail(client)
            erase(client)
        except gatherd.GatherdError as error:
            print(error, file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
