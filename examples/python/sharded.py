"""A table spread over several servers with gatherd's Python client.

Writes rows and finds them again. docs/scaling.md shows it beside sharded.cc,
which does the same.

usage: sharded.py SERVER SERVER..., each a HOST:PORT
"""

import sys

import numpy as np

import gatherd


def main(servers):
    keys = np.arange(1000)
    with gatherd.ShardedClient(servers, lost_keys="missing") as client:
        updated = client.update("users", keys, np.ones((1000, 16)))
        print("written:", updated.num_inserted)

        answer = client.lookup("users", keys)
        for server in answer.lost_servers:
            print("keys of", server, "count as missing")
        pooled = client.lookup("users", keys, pooling="sum", offsets=[0, 500])
        print(f"found: {(~answer.missing).sum()}, "
              f"sum of a bag: {pooled.rows[1, 0]:g}")


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except gatherd.GatherdError as error:
        sys.exit(str(error))
