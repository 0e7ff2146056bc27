#!/usr/bin/python3
"""Served lookups of the CUDA backend beside the same bytes without a lookup.

usage: tests/bench/gpu_serve_bench.py --programs=FOLDER [--redis=FOLDER]
           [--devices=cuda] [--rounds=N] [--seconds=S]

Needs Python's standard library alone, to run where a bundle was unpacked
(//deploy/bundle:gatherd_with_gpu_tests). --programs: gatherd, gatherctl,
gatherbench and rpc_ceiling, the program that answers the bytes of a reply
without a lookup and asks both servers. --redis: redis-server, redis-cli and
redis-benchmark. All run on this machine and take turns; medians of the rounds.
"""

import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import tempfile
import time
import urllib.request

ADDRESS, METRICS = "127.0.0.1:7400", "127.0.0.1:7401"
CEILING, SMALL_CEILING, REDIS_PORT = "127.0.0.1:7500", "127.0.0.1:7501", "7600"
ROWS, DIM, ROW_BYTES = 1_000_000, 64, 256
STAGES = ("decode", "queue", "device", "encode")
SHAPES = [(64, 1), (64, 16), (1024, 8), (1024, 16), (4096, 6), (4096, 8),
          (4096, 16), (16384, 6), (16384, 8)]  # keys a call, callers
# Keeps clients from giving the memory of each large reply back to the kernel.
ENV = {**os.environ, "MALLOC_TRIM_THRESHOLD_": str(1 << 32),
       "MALLOC_MMAP_THRESHOLD_": str(1 << 30)}

CONFIG = """
server: {address: "%s", metrics_address: "%s", default_deadline: 10s}
devices: %s
tables:
  - {name: bench, dim: 64, key_space: hashed, tiers: [{gpu: {rows: 1M}}]}
  - {name: dense, dim: 64, key_space: dense, tiers: [{gpu: {rows: 1M}}]}
"""


class Programs:

    def __init__(self, folder):
        self.folder = pathlib.Path(folder).resolve()

    def start(self, name, *args, **options):
        return subprocess.Popen([str(self.folder / name), *map(str, args)],
                                env=ENV, stdout=subprocess.DEVNULL, **options)

    def output(self, name, *args, **options):
        return subprocess.run([str(self.folder / name), *map(str, args)],
                              env=ENV, check=True, stdout=subprocess.PIPE,
                              text=True, timeout=300, **options).stdout

    def ask(self, address, callers, keys, seconds, row_bytes):
        """One run of the client that asks both servers."""
        result = json.loads(self.output(
            "rpc_ceiling", "client", address, "bench", callers, keys, ROWS,
            seconds, row_bytes))
        assert not result["errors"] and not result["short"], result
        return result

    def bench(self, table, callers, seconds, *args):
        """Lines of gatherbench that tell of lookups and updates."""
        text = self.output(
            "gatherbench", f"--address={ADDRESS}", f"--tables={table}",
            f"--rows={ROWS}", f"--callers={callers}", "--warmup=300ms",
            f"--duration={int(seconds * 1000)}ms", *args)
        return [line.strip() for line in text.splitlines()
                if re.match(r"\s+(lookup|update): ", line)]


def wait_until_ready(programs):
    for _ in range(240):
        health = subprocess.run(
            [programs.folder / "gatherctl", f"--address={ADDRESS}", "health"],
            capture_output=True, text=True, check=False).stdout
        if "SERVING" in health and "NOT" not in health:
            return
        time.sleep(0.25)
    raise RuntimeError("gatherd is not ready")


def stages():
    """{stage: (seconds, requests)} so far."""
    url = f"http://{METRICS}/metrics"
    text = urllib.request.urlopen(url).read().decode()

    def value(name, stage):
        pattern = rf'^gatherd_stage_duration_seconds_{name}' \
                  rf'{{stage="{stage}"}} (\S+)'
        return float(re.search(pattern, text, re.M).group(1))
    return {stage: (value("sum", stage), value("count", stage))
            for stage in STAGES}


def mean_us(before, after, stage):
    num_requests = max(1, after[stage][1] - before[stage][1])
    return (after[stage][0] - before[stage][0]) / num_requests * 1e6


def median_of(results, field):
    return statistics.median(result[field] for result in results)


def compare(programs, rounds, seconds):
    """Prints the table; returns {keys a call: most keys/s of gatherd}."""
    print("| keys a call | callers | ceiling, M keys/s | gatherd, M keys/s "
          "| ratio | p50 µs: ceiling, gatherd | p99 µs: ceiling, gatherd "
          "| µs: decode, queue, device, encode |\n" + "|---" * 8 + "|")
    most = {}
    for keys, callers in SHAPES:
        ceiling, ours, before = [], [], stages()
        for _ in range(rounds):
            for address, results in ((CEILING, ceiling), (ADDRESS, ours)):
                results.append(programs.ask(address, callers, keys, seconds,
                                            ROW_BYTES))
        after = stages()
        ratio = statistics.median(
            b["keys_per_s"] / a["keys_per_s"] for a, b in zip(ceiling, ours))
        cells = [str(keys), str(callers)]
        cells += [f"{median_of(results, 'keys_per_s') / 1e6:.2f}"
                  for results in (ceiling, ours)]
        cells.append(f"{ratio:.2f}")
        cells += [f"{median_of(ceiling, field):.0f}, "
                  f"{median_of(ours, field):.0f}"
                  for field in ("p50_us", "p99_us")]
        cells.append(", ".join(f"{mean_us(before, after, stage):.1f}"
                               for stage in STAGES))
        print("| " + " | ".join(cells) + " |", flush=True)
        most[keys] = max(most.get(keys, 0), median_of(ours, "keys_per_s"))
    return most


def compare_pooled(programs, seconds):
    print("\nPooled sums, 64 keys a bag, float16 replies, 65,536 keys a call:")
    for callers in (8, 16):
        ceiling = programs.ask(SMALL_CEILING, callers, 65536, seconds, 2)
        ours = programs.bench(
            "bench", callers, seconds, "--pooling=sum", "--hotness=64",
            "--output-type=float16", "--keys-per-call=65536")
        print(f"{callers} callers: ceiling "
              f"{ceiling['keys_per_s'] / 1e6:.0f} M keys/s; gatherd {ours[0]}")


def compare_updates(programs, seconds):
    print("\n1024 keys a call, 8 callers, without and with 10 % updates:")
    for table in ("bench", "dense"):
        for fraction in ("1", "0.9"):
            lines = programs.bench(table, 8, seconds, "--keys-per-call=1024",
                                   f"--read-fraction={fraction}")
            print(f"{table}, {fraction} lookups: " + "; ".join(lines))


def compare_redis(programs, most):
    server = programs.start("redis-server", "--port", REDIS_PORT, "--save", "",
                            "--appendonly", "no", "--io-threads", "4")
    try:
        time.sleep(1)
        value = "v" * ROW_BYTES
        programs.output("redis-cli", "-p", REDIS_PORT, "--pipe", input="".join(
            f"*3\r\n$3\r\nSET\r\n$16\r\nkey:{i:012d}\r\n${ROW_BYTES}\r\n"
            f"{value}\r\n" for i in range(ROWS)))
        text = programs.output(
            "redis-benchmark", "-p", REDIS_PORT, "-c", 16, "-P", 4,
            "--threads", 8, "-r", ROWS, "-n", 60000, "--csv", "MGET",
            *["key:__rand_int__"] * 64)
    finally:
        server.kill()
        server.wait()
    rate = float(text.strip().splitlines()[-1].split(",")[1].strip('"')) * 64
    print(f"\nRedis, MGET of 64 values of 256 bytes: {rate / 1e6:.2f} M "
          "keys/s; gatherd / redis: " + ", ".join(
              f"{value / rate:.1f} at {keys} keys a call"
              for keys, value in most.items() if keys >= 1024))


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", required=True)
    parser.add_argument("--redis")
    parser.add_argument("--devices", default="cuda")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=1.5)
    arguments = parser.parse_args()
    programs = Programs(arguments.programs)
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as config:
        config.write(CONFIG % (ADDRESS, METRICS, arguments.devices))
        config.flush()
        servers = [
            programs.start("gatherd", f"--config={config.name}",
                           stderr=subprocess.DEVNULL),
            programs.start("rpc_ceiling", "server", CEILING, ROW_BYTES, 86400),
            programs.start("rpc_ceiling", "server", SMALL_CEILING, 2, 86400)]
        try:
            wait_until_ready(programs)
            programs.bench("bench", 1, 0.2, "--fill")
            print(time.strftime("%Y-%m-%d"), f"{os.cpu_count()} cores\n")
            most = compare(programs, arguments.rounds, arguments.seconds)
            compare_pooled(programs, arguments.seconds)
            compare_updates(programs, 2 * arguments.seconds)
            if arguments.redis is not None:
                compare_redis(Programs(arguments.redis), most)
        finally:
            for server in servers:
                server.kill()
                server.wait()


if __name__ == "__main__":
    main()
