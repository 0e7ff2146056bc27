"""A Redis server full of values, asked by redis-benchmark."""

import contextlib
import csv
import io
import shutil
import subprocess
import time

from tests.integration.harness.process import free_port

_KEYS_PER_CALL = 64
_CLIENTS, _PIPELINE = 4, 4
_PROGRAMS = ("redis-server", "redis-benchmark", "redis-cli")


@contextlib.contextmanager
def optional_server(num_values, value_bytes, say):
    """A RedisServer, or None where Redis is not installed."""
    missing = [name for name in _PROGRAMS if shutil.which(name) is None]
    if missing:
        say(f"no {missing[0]} (apt-get install redis-server): without Redis")
        yield None
        return
    server = RedisServer(num_values, value_bytes)
    try:
        yield server
    finally:
        server.stop()


class RedisServer:
    """In memory only, on a port of its own."""

    def __init__(self, num_values, value_bytes):
        self._num_values = num_values
        self._port = str(free_port())
        self.process = subprocess.Popen(
            ["redis-server", "--port", self._port, "--bind", "127.0.0.1",
             "--save", "", "--appendonly", "no"], stdout=subprocess.DEVNULL)
        try:
            self._wait()
            self._fill(value_bytes)
        except BaseException:
            self.stop()
            raise

    def stop(self):
        self.process.kill()
        self.process.wait()

    def _cli(self, *args, **options):
        return subprocess.run(["redis-cli", "-p", self._port, *args],
                              check=True, capture_output=True, **options)

    def _wait(self):
        deadline = time.monotonic() + 30
        while True:
            with contextlib.suppress(subprocess.CalledProcessError):
                if self._cli("ping").stdout.strip() == b"PONG":
                    return
            if time.monotonic() > deadline:
                raise RuntimeError("redis-server does not answer")
            time.sleep(0.05)

    def _fill(self, value_bytes):
        """Under the names that redis-benchmark makes of __rand_int__."""
        command = (b"*3\r\n$3\r\nSET\r\n$16\r\nkey:%012d\r\n$"
                   + str(value_bytes).encode() + b"\r\n" + b"v" * value_bytes
                   + b"\r\n")
        commands = b"".join(command % i for i in range(self._num_values))
        self._cli("--pipe", input=commands)
        size = int(self._cli("dbsize").stdout)
        if size != self._num_values:
            raise RuntimeError(f"Redis holds {size} values")

    def _benchmark(self, num_calls):
        """Calls a second of so many calls of MGET."""
        output = subprocess.run(
            ["redis-benchmark", "-p", self._port, "-c", str(_CLIENTS), "-P",
             str(_PIPELINE), "-r", str(self._num_values), "-n",
             str(num_calls), "--csv", "MGET",
             *["key:__rand_int__"] * _KEYS_PER_CALL],
            check=True, capture_output=True, text=True).stdout
        header, row = list(csv.reader(io.StringIO(output)))[-2:]
        return dict(zip(header, row))

    def run_of(self, seconds):
        """A function that measures for about so long."""
        probe = float(self._benchmark(2000)["rps"])

        def run():
            figures = self._benchmark(max(1000, int(probe * seconds)))
            rate = float(figures["rps"])
            return {
                "callers": f"{_CLIENTS} x {_PIPELINE}",
                "keys_per_call": _KEYS_PER_CALL,
                "calls_per_s": rate,
                "keys_per_s": rate * _KEYS_PER_CALL,
                "p50_us": float(figures["p50_latency_ms"]) * 1000,
                "p99_us": float(figures["p99_latency_ms"]) * 1000,
            }
        return run
