"""Calls servers that have the same tables in turn, for a while.

From the root of the tree:

    /usr/bin/python3 examples/several_servers/follow.py \
        ipv4:127.0.0.1:7400,127.0.0.1:7500 examples/service_config.json 10
"""

import sys
import time

import grpc


def open_channel(target, service_config):
    return grpc.insecure_channel(target, options=[
        ("grpc.service_config", service_config),
        ("grpc.max_receive_message_length", -1),
        ("grpc.keepalive_time_ms", 12000),
        ("grpc.keepalive_timeout_ms", 12000),
    ])


def main():
    target, path, seconds = sys.argv[1:]
    with open(path, encoding="utf-8") as file:
        service_config = file.read()
    num_calls = num_failed = 0
    with open_channel(target, service_config) as channel:
        # Bytes as they are: a request of nothing needs no stub.
        lookup = channel.unary_unary("/gatherd.v1.EmbeddingService/Lookup")
        end = time.monotonic() + float(seconds)
        while time.monotonic() < end:
            num_calls += 1
            try:
                lookup(b"", timeout=5)
            except grpc.RpcError as error:
                num_failed += 1
                print(error.code().name, error.details(), file=sys.stderr)
            time.sleep(0.001)
    print(f"{num_calls} calls, {num_failed} failed")


if __name__ == "__main__":
    main()
