#!/usr/bin/python3
"""Ways to set up a gRPC server, compared: the same bytes, with no lookup.

usage: tests/bench/transport_bench.py --programs=FOLDER [--rounds=N]
           [--seconds=S] [--only=TEXT]

--programs: where transport_server and transport_client are, such as
bazel-bin/tests/bench. --only: ways whose names contain the text. The ways take
turns, each with a server of its own that is idle while others are measured.
Medians of the rounds; CPU time of the server with what the kernel does for it.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

SHAPES = [(64, 1), (64, 16), (1024, 16), (4096, 8)]  # keys a call, callers
ROW_BYTES = 256
FIRST_PORT = 7700
# Keeps both sides from giving the memory of each message back to the kernel.
ENV = {**os.environ, "MALLOC_TRIM_THRESHOLD_": str(1 << 32),
       "MALLOC_MMAP_THRESHOLD_": str(1 << 30)}
MIB = 1 << 20

# Name: flags of the server, flags of the client. Words in capitals are
# replaced, ADDRESS by a free one.
WAYS = {
    "callbacks": ([], []),
    "1 queue, 2 threads": (["--queues=1", "--threads=2"], []),
    "1 queue, a thread a core": (
        ["--queues=1", f"--threads={os.cpu_count()}"], []),
    "1 queue, a thread every 2nd core": (
        ["--queues=1", f"--threads={max(1, os.cpu_count() // 2)}"], []),
    "4 queues": (["--queues=4"], []),
    "a queue a core": ([f"--queues={os.cpu_count()}"], []),
    "4 listeners on a port": (["--listeners=4"], []),
    "4 ports": (["--address=ADDRESS,SECOND,THIRD,FOURTH"],
                ["--address=ADDRESS,SECOND,THIRD,FOURTH"]),
    "unix socket": (["--address=unix:SOCKET"], ["--address=unix:SOCKET"]),
    "half as many channels": ([], ["--channels=HALF"]),
    "one channel": ([], ["--channels=1"]),
    "windows and frames of 1 MiB": (
        ["--arguments=grpc.http2.lookahead_bytes=%d,"
         "grpc.http2.max_frame_size=%d" % (MIB, MIB)],
        ["--arguments=grpc.http2.lookahead_bytes=%d,"
         "grpc.http2.max_frame_size=%d" % (MIB, MIB)]),
    "server frames of 1 MiB": (
        ["--arguments=grpc.http2.max_frame_size=%d" % MIB], []),
    "client frames of 1 MiB": (
        [], ["--arguments=grpc.http2.max_frame_size=%d" % MIB]),
    "write buffer of 1 MiB": (
        ["--arguments=grpc.http2.write_buffer_size=%d" % MIB], []),
    "no probing of bandwidth": (
        ["--arguments=grpc.http2.bdp_probe=0"],
        ["--arguments=grpc.http2.bdp_probe=0"]),
    "connections of 1 s": (
        ["--arguments=grpc.max_connection_age_ms=1000,"
         "grpc.max_connection_age_grace_ms=1000"], []),
    "pings every second": (
        ["--arguments=grpc.keepalive_time_ms=1000,"
         "grpc.http2.min_time_between_pings_ms=1000"], []),
    "TLS": (["--certificate=CERTIFICATE", "--key=KEY"], ["--ca=CERTIFICATE"]),
}


class Way:

    def __init__(self, programs, folder, number, name):
        self.name = name
        self.programs = programs
        self.names = {"ADDRESS": f"127.0.0.1:{FIRST_PORT + number}",
                      "SECOND": f"127.0.0.1:{FIRST_PORT + 100}",
                      "THIRD": f"127.0.0.1:{FIRST_PORT + 101}",
                      "FOURTH": f"127.0.0.1:{FIRST_PORT + 102}",
                      "SOCKET": f"{folder}/{number}.sock",
                      "CERTIFICATE": f"{folder}/certificate.pem",
                      "KEY": f"{folder}/key.pem"}
        server, self.client_flags = WAYS[name]
        self.server = subprocess.Popen([
            self.programs / "transport_server",
            *self._flags(["--address=ADDRESS"], server)], env=ENV)
        self.results = {shape: [] for shape in SHAPES}
        for attempt in range(100):
            if self._ask(64, 1, 0.05, check=attempt == 99) is not None:
                return
            time.sleep(0.1)

    def _flags(self, base, own, **names):
        """The own flags, and those of `base` that they do not replace."""
        given = [flag.split("=")[0] for flag in own]
        flags = own + [flag for flag in base
                       if flag.split("=")[0] not in given]
        for name, value in {**self.names, **names}.items():
            flags = [flag.replace(name, str(value)) for flag in flags]
        return flags

    def _ask(self, keys, callers, seconds, check=True):
        done = subprocess.run(
            [self.programs / "transport_client",
             *self._flags(["--address=ADDRESS"], self.client_flags,
                          HALF=max(1, callers // 2)),
             f"--keys={keys}", f"--callers={callers}", f"--seconds={seconds}",
             f"--row-bytes={ROW_BYTES}"],
            env=ENV, check=check, capture_output=True, text=True)
        return None if done.returncode else json.loads(done.stdout)

    def _cpu_seconds(self):
        fields = pathlib.Path(f"/proc/{self.server.pid}/stat").read_text(
            encoding="utf-8").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def measure(self, shape, seconds):
        before = self._cpu_seconds()
        result = self._ask(*shape, seconds)
        num_calls = max(1, result["calls_per_s"] * seconds)
        result["server_cpu_us"] = (
            self._cpu_seconds() - before) / num_calls * 1e6
        result["client_cpu_us"] = result["client_cpu_ns"] * shape[0] / 1e3
        self.results[shape].append(result)

    def row(self, shape):
        def median(field):
            return statistics.median(
                result[field] for result in self.results[shape])
        return (f"| {shape[0]} | {shape[1]} | {self.name} "
                f"| {median('keys_per_s') / 1e6:.2f} | {median('p50_us'):.0f} "
                f"| {median('p99_us'):.0f} | {median('server_cpu_us'):.0f} "
                f"| {median('client_cpu_us'):.0f} |")


def make_certificate(folder):
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
         "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=x",
         "-addext", "subjectAltName=IP:127.0.0.1", "-out",
         f"{folder}/certificate.pem", "-keyout", f"{folder}/key.pem"],
        check=True, capture_output=True)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", required=True, type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.7)
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    ways = []
    with tempfile.TemporaryDirectory() as folder:
        make_certificate(folder)
        try:
            for number, name in enumerate(WAYS):
                if arguments.only in name:
                    ways.append(Way(arguments.programs.resolve(), folder,
                                    number, name))
            for _ in range(arguments.rounds):
                for shape in SHAPES:
                    for way in ways:
                        way.measure(shape, arguments.seconds)
        finally:
            for way in ways:
                way.server.kill()
                way.server.wait()
    print(time.strftime("%Y-%m-%d"), f"{os.cpu_count()} cores\n")
    print("| keys a call | callers | way | M keys/s | p50 µs | p99 µs "
          "| µs of CPU a call: server | client |\n" + "|---" * 8 + "|")
    for shape in SHAPES:
        for way in ways:
            print(way.row(shape))


if __name__ == "__main__":
    main()
