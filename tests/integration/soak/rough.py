"""Clients that misbehave: they cancel, stop reading, send garbage, vanish.

What they ask for is legal as long as it says so, and harms no row that others
check. Each function but `be_killed` is a process's work until `shared.stop` and
returns a Counter of what it did.
"""

import collections
import socket
import struct
import threading
import time

import grpc
import numpy as np

from gatherd import lookup_reply, messages, requests, results
from tests.integration.harness.api import open_channel
from tests.integration.harness.wire import NO_MESSAGES
from tests.integration.soak import rows, tables
from tests.integration.soak.clients import size_of

SERVICE = "/gatherd.v1.EmbeddingService/"
# How calls that are cut off may end.
ENDS = {"OK", "CANCELLED", "DEADLINE_EXCEEDED", "RESOURCE_EXHAUSTED"}
SLOW_STREAMS = 6
SLOW_KEYS = 8192  # of a request of a slow stream: a reply of 2 MiB
KILLED_CALLS = 8  # that a client which is to be killed has in flight
GARBAGE_REPLY_S = 0.5


def encode_lookup(table, keys, **fields):
    request = messages.LookupRequest()
    requests.fill_lookup(requests.Lookup(table, keys, **fields),
                         request.lookups.add())
    return request.SerializeToString()


def encode_update(keys, values, mode="set"):
    request = messages.UpdateRequest()
    for table in ("fixed", "passing") if mode == "set" else ("fixed",):
        requests.fill_update(requests.Update(table, keys, values, mode),
                             request.updates.add())
    return request.SerializeToString()


def encode_erase(keys):
    request = messages.EraseRequest()
    requests.fill_erase(requests.Erase("passing", keys), request.erases.add())
    return request.SerializeToString()


def legal_requests(rng, count):
    """[(method, bytes)] of all kinds and sizes, each `count` times."""
    values, made = tables.fixed_rows(), []
    for _ in range(count):
        keys = rng.integers(0, tables.NUM_KEYS, size_of(rng))
        written = keys[:tables.MAX_KEYS_PER_WRITE]
        made += [("Lookup", encode_lookup(table, keys))
                 for table in tables.DIMS]
        made += [
            ("Lookup", encode_lookup("fixed", keys, pooling="sum",
                                     offsets=np.arange(0, len(keys), 16),
                                     output_type="float16")),
            ("Update", encode_update(written, values[written])),
            ("Update", encode_update(written, np.zeros_like(values[written]),
                                     "add")),
            ("Erase", encode_erase(written)),
        ]
    return made


class Counts(collections.Counter):

    def add_end(self, what, code):
        """Counts how a call ended; fails on what no cut-off explains."""
        if code.name not in ENDS:
            raise AssertionError(f"{what} ended with {code.name}")
        self[f"{what} {code.name}"] += 1


def cut_off(shared, seed):
    """Calls that end early: by deadline, by cancellation, by closing."""
    rng, counts = np.random.default_rng(seed), Counts()
    legal = legal_requests(rng, 20)
    lookups = [request for method, request in legal if method == "Lookup"]
    while not shared.stop.is_set():
        with open_channel(shared.address) as channel:
            for _ in range(20):
                if rng.random() < 0.2:
                    _cut_off_stream(channel, rng, lookups, counts)
                else:
                    _cut_off_burst(channel, rng, legal, counts)
            # Left to the closing of the channel.
            channel.unary_unary(SERVICE + "Lookup").future(
                lookups[rng.integers(len(lookups))])
            counts["connections closed under a call"] += 1
    return counts


def _cut_off_burst(channel, rng, legal, counts):
    calls = []
    for i in rng.integers(len(legal), size=4):
        method, request = legal[i]
        # A tenth of a millisecond to a tenth of a second.
        timeout = 10 ** rng.uniform(-4, -1)
        calls.append((method, channel.unary_unary(SERVICE + method).future(
            request, timeout=timeout)))
    time.sleep(10 ** rng.uniform(-4, -1.5))
    if rng.random() < 0.5:
        for _, call in calls:
            call.cancel()
    for method, call in calls:
        counts.add_end(method, call.code())


def _cut_off_stream(channel, rng, lookups, counts):
    wanted = [lookups[i] for i in rng.integers(len(lookups), size=8)]
    call = channel.stream_stream(SERVICE + "LookupStream")(
        iter(wanted), timeout=tables.CALL_TIMEOUT_S)
    try:
        for _ in range(rng.integers(8)):
            next(call)
    except grpc.RpcError:
        pass
    call.cancel()
    counts.add_end("LookupStream", call.code())


def read_slowly(shared, seed):
    """Streams whose replies are read one a while, or not at all."""
    counts, lock, failures = Counts(), threading.Lock(), []

    def work(number):
        try:
            rng = np.random.default_rng([seed, number])
            while not shared.stop.is_set():
                found = _read_one_slowly(shared, rng)
                with lock:
                    counts.update(found)
        except BaseException as error:
            failures.append(error)
            shared.stop.set()
    threads = [threading.Thread(target=work, args=(number,))
               for number in range(SLOW_STREAMS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    return counts


def _read_one_slowly(shared, rng):
    """The life of one stream, about ten seconds."""
    counts, values = Counts(), tables.fixed_rows()
    keys = rng.integers(0, tables.NUM_KEYS, SLOW_KEYS)
    request = encode_lookup("fixed", keys)
    pause_s, reads = rng.uniform(0.05, 1), rng.random() < 0.5
    with open_channel(shared.address) as channel:
        call = channel.stream_stream(SERVICE + "LookupStream")(
            iter([request] * 400), timeout=tables.CALL_TIMEOUT_S)
        end = time.monotonic() + rng.uniform(5, 15)
        try:
            while time.monotonic() < end and not shared.stop.wait(pause_s):
                if reads:
                    message, view = lookup_reply.read(next(call))[0]
                    found = results.table_rows(message, view, len(keys),
                                               len(keys))
                    rows.check_equal(keys, found.floats(), values[keys],
                                     "row")
                    counts["rows checked"] += len(keys)
        except grpc.RpcError:  # its code says whether it may
            counts.add_end("slow stream", call.code())
        if rng.random() < 0.5:
            call.cancel()
    counts["streams read slowly" if reads else "streams never read"] += 1
    return counts


def be_killed(shared, seed, has_replies):
    """Asks for as much as it can, until its process is killed."""
    rng = np.random.default_rng(seed)
    legal = legal_requests(rng, 2)
    keys = rng.permutation(tables.NUM_KEYS)
    # Its reply is 16 MiB: most of the time one of them is on its way.
    legal += [("Lookup", encode_lookup("fixed", keys))] * len(legal)
    streamed = [request for method, request in legal * 50
                if method == "Lookup"]
    with open_channel(shared.address) as channel:
        replies, calls = iter(()), []
        while True:
            for i in rng.integers(len(legal), size=4):
                method, request = legal[i]
                calls.append(channel.unary_unary(SERVICE + method).future(
                    request, timeout=tables.CALL_TIMEOUT_S))
            while len(calls) > KILLED_CALLS:
                calls.pop(0).exception()
            try:
                next(replies)
            except (StopIteration, grpc.RpcError):
                replies = channel.stream_stream(SERVICE + "LookupStream")(
                    iter(streamed), timeout=tables.CALL_TIMEOUT_S)
            has_replies.set()


def spoil(shared, seed):
    """Bytes that are no calls, calls that are no requests, dropped sockets."""
    rng, counts = np.random.default_rng(seed), Counts()
    ports = [int(address.rpartition(":")[2])
             for address in (shared.address, shared.metrics_address)]
    while not shared.stop.wait(0.05):
        _spoil_socket(ports[int(rng.random() < 0.2)], rng, counts)
        if rng.random() < 0.1:
            _spoil_call(shared, rng, counts)
    return counts


_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
_SETTINGS = bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])
_HUGE_FRAME = bytes([255, 255, 255, 0, 0, 0, 0, 0, 1])
_STARTS = (b"", b"GET / HTTP/1.1\r\n", b"GET /nowhere HTTP/1.1\r\n\r\n",
           bytes([22, 3, 1, 2, 0, 1]), _PREFACE[:10], _PREFACE,
           _PREFACE + _SETTINGS, _PREFACE + _SETTINGS + _HUGE_FRAME)


def _spoil_socket(port, rng, counts):
    with socket.create_connection(("127.0.0.1", port), 30) as peer:
        try:
            start = _STARTS[rng.integers(len(_STARTS))]
            peer.sendall(start + rng.bytes(rng.integers(2000)))
            if rng.random() < 0.3:
                peer.settimeout(GARBAGE_REPLY_S)
                while peer.recv(65536):
                    pass
        except OSError:  # refused or left alone: both are right
            pass
        if rng.random() < 0.5:  # reset instead of closed
            peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                            struct.pack("ii", 1, 0))
        counts["connections with garbage"] += 1


def _spoil_call(shared, rng, counts):
    names = list(NO_MESSAGES)
    request = NO_MESSAGES[names[rng.integers(len(names))]]
    method = ("Lookup", "Update", "Erase")[rng.integers(3)]
    with open_channel(shared.address) as channel:
        code = channel.unary_unary(SERVICE + method).future(
            request, timeout=tables.CALL_TIMEOUT_S).code()
    if code != grpc.StatusCode.INVALID_ARGUMENT:
        raise AssertionError(f"{method} of {request[:20]} ended with {code}")
    counts["calls with garbage"] += 1
