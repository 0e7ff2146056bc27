"""Word vectors over gRPC: lookup, pooled lookup, update, erase.

Debian's python3-grpcio, python3-grpc-tools and python3-numpy are enough. From
the root of the tree:

    tools/quickstart --keep          # leaves a server running
    mkdir -p /tmp/stubs
    /usr/bin/python3 -m grpc_tools.protoc --proto_path=. \
        --python_out=/tmp/stubs --grpc_python_out=/tmp/stubs \
        proto/gatherd/v1/gatherd.proto
    PYTHONPATH=/tmp/stubs /usr/bin/python3 examples/python/words.py \
        localhost:7400
"""

import json
import sys

import grpc
import numpy as np

from proto.gatherd.v1 import gatherd_pb2 as pb
from proto.gatherd.v1 import gatherd_pb2_grpc

TIMEOUT_S = 5

# gRPC repeats these calls by itself when they end with UNAVAILABLE. Update is
# not among them, since ADD may not be repeated.
SERVICE_CONFIG = {
    "methodConfig": [{
        "name": [
            {"service": "gatherd.v1.EmbeddingService", "method": "Lookup"},
            {"service": "gatherd.v1.EmbeddingService", "method": "Erase"},
            {"service": "gatherd.v1.TableService"},
        ],
        "retryPolicy": {
            "maxAttempts": 5,
            "initialBackoff": "0.05s",
            "maxBackoff": "1s",
            "backoffMultiplier": 2,
            "retryableStatusCodes": ["UNAVAILABLE"],
        },
    }],
}

CHANNEL_OPTIONS = [
    # gRPC's own limit is 4 MiB; the server's is server.max_message_bytes.
    ("grpc.max_receive_message_length", -1),
    ("grpc.max_send_message_length", -1),
    ("grpc.service_config", json.dumps(SERVICE_CONFIG)),
]


def fnv1a(text):
    """The key of a word: FNV-1a 64 of its UTF-8 bytes, as a signed number."""
    value = 0xCBF29CE484222325
    for byte in text.encode():
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value - 2**64 if value >= 2**63 else value


def rows_of(result):
    """The rows of a float32 result as a numpy array, without a copy."""
    assert result.data_type == pb.DATA_TYPE_FLOAT32
    return np.frombuffer(result.values, "<f4").reshape(-1, result.dim)


def missing_of(result, num_keys):
    """A bool for each key: whether it was missing."""
    bits = np.frombuffer(result.missing, np.uint8)
    flags = np.unpackbits(bits, bitorder="little").astype(bool)
    return np.resize(flags, num_keys) if bits.size else np.zeros(num_keys, bool)


def show(what, row):
    print(f"{what}: {row[0]:.6g} {row[1]:.6g} {row[2]:.6g} ... "
          f"({len(row)} values)")


def look_up(stub):
    words = ["king", "queen", "zyzzyvas"]
    reply = stub.Lookup(
        pb.LookupRequest(lookups=[
            pb.TableLookup(table="words", keys=[fnv1a(w) for w in words])]),
        timeout=TIMEOUT_S)
    result = reply.results[0]
    for word, row, missing in zip(words, rows_of(result),
                                  missing_of(result, len(words))):
        if missing:
            print(f"{word}: missing")
        else:
            show(word, row)


def look_up_means(stub):
    """The mean of each bag of words, computed by the server."""
    keys = [fnv1a(w) for w in ["king", "queen", "paris", "london", "tokyo"]]
    reply = stub.Lookup(
        pb.LookupRequest(lookups=[pb.TableLookup(
            table="words",
            keys=keys,
            pooling=pb.POOLING_MEAN,
            offsets=[0, 2],  # where each bag starts
            output_type=pb.DATA_TYPE_FLOAT32,
            missing_key_policy=pb.MISSING_KEY_POLICY_ERROR)]),
        timeout=TIMEOUT_S)
    means = rows_of(reply.results[0])
    show("mean of king, queen", means[0])
    show("mean of paris, london, tokyo", means[1])
    return means[0]


def write_and_erase(stub, row):
    keys = [fnv1a("a word of our own")]
    reply = stub.Update(
        pb.UpdateRequest(updates=[pb.TableUpdate(
            table="words",
            keys=keys,
            data_type=pb.DATA_TYPE_FLOAT32,
            values=row.astype("<f4").tobytes(),  # one row for each key
            mode=pb.UPDATE_MODE_SET)]),
        timeout=TIMEOUT_S)
    print(f"inserted {reply.results[0].num_inserted}, "
          f"updated {reply.results[0].num_updated}")

    reply = stub.Lookup(
        pb.LookupRequest(lookups=[pb.TableLookup(table="words", keys=keys)]),
        timeout=TIMEOUT_S)
    assert np.array_equal(rows_of(reply.results[0])[0], row)

    reply = stub.Erase(
        pb.EraseRequest(erases=[pb.TableErase(table="words", keys=keys)]),
        timeout=TIMEOUT_S)
    print(f"erased {reply.results[0].num_erased}")


def main():
    address = sys.argv[1] if len(sys.argv) > 1 else "localhost:7400"
    with grpc.insecure_channel(address, CHANNEL_OPTIONS) as channel:
        stub = gatherd_pb2_grpc.EmbeddingServiceStub(channel)
        try:
            look_up(stub)
            write_and_erase(stub, look_up_means(stub))
        except grpc.RpcError as error:
            print(f"{error.code().name}: {error.details()}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
