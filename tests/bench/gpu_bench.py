#!/usr/bin/env python3
"""Runs gpu_bench beside the programs that set the ceilings; prints Markdown.

  tests/bench/gpu_bench.py --bench=bazel-bin/tests/bench/gpu_bench \
      --limit=FILE --find_host=FILE

The ceiling programs are no part of this tree; without one its columns are
empty. All programs print a JSON object a line.
"""

import argparse
import datetime
import json
import os
import shlex
import subprocess
import sys

_DENSE = ["--dims", "32,64,128,256", "--dtypes", "fp32,fp16", "--batches",
          "65536,1048576,4194304", "--dists", "uniform", "--table_gb", "16"]
_POOLED = ["--batches", "1048576", "--dists", "uniform,zipf1.05", "--hotness",
           "64", "--table_gb", "16"]


def run(command):
    """The objects that a program printed."""
    output = subprocess.run(
        command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return [json.loads(line) for line in output.splitlines()
            if line.startswith("{")]


def ceilings(limit, find_host):
    """(name, dim, type, keys) -> keys a second, or microseconds."""
    found = {}
    rows = []
    if limit:
        rows = run([limit, "--mode", "gather", *_DENSE])
        for dims, dtypes in (("128", "fp32"), ("64", "fp16")):
            rows += run([limit, "--mode", "pooled", "--dims", dims, "--dtypes",
                         dtypes, *_POOLED])
        rows += run([limit, "--mode", "latency"])
    for row in rows:
        name = row["name"]
        key = (row.get("dim"), row.get("dtype"), row.get("batch"))
        if name == "gather":
            found[("gather", *key)] = row["keys_per_s"]
        elif name == "pooled_sum":
            kind = "uniform" if row["distribution"] == "uniform" else "Zipf"
            found[(f"pooled, {kind}", *key)] = row["keys_per_s"]
        elif name == "e2e_zero_copy":
            found[("alone, dense", *key)] = row["median_us"]
    if find_host:
        for row in run([find_host, "find"]):
            key = (row["dim"], "fp32", row["batch"])
            found[("find", *key)] = row["find_keys_per_s"]
    return found


def giga(value):
    return "–" if value is None else f"{value / 1e9:.2f}"


def ratio(value, ceiling):
    return "–" if value is None or not ceiling else f"{value / ceiling:.2f}"


def table(header, rows):
    print("| " + " | ".join(header) + " |")
    print("|" + "---|" * len(header))
    for row in rows:
        print("| " + " | ".join(map(str, row)) + " |")
    print()


class Report:

    def __init__(self, ours, found):
        self._ours = {(r["name"], r["dim"], r["dtype"], r["keys"]): r
                      for r in ours}
        self._found = found

    def _rate(self, name, *key):
        row = self._ours.get((name, *key))
        return row["keys_per_s"] if row else None

    def rates(self, name, beside):
        """One name's keys a second beside its ceiling and other names'."""
        rows = []
        for key in [key[1:] for key in self._ours if key[0] == name]:
            ceiling = self._found.get((name, *key))
            rate = self._rate(name, *key)
            others = [self._rate(other, *key) for other in beside]
            rows.append([*key, giga(rate), giga(ceiling), ratio(rate, ceiling),
                         *map(giga, others)])
        table(["dim", "type", "keys", f"{name}, G keys/s", "ceiling", "ratio",
               *beside], rows)

    def latencies(self):
        rows = []
        for (name, *key), row in self._ours.items():
            if "p99_us" in row:
                ceiling = self._found.get((name, *key))
                rows.append([name, *key, f"{row['us']:.1f}",
                             f"{row['p99_us']:.1f}", f"{row['launch_us']:.1f}",
                             f"{ceiling:.1f}" if ceiling else "–"])
        table(["pinned to pinned", "dim", "type", "keys", "p50 µs", "p99 µs",
               "launch µs", "ceiling p50 µs"], rows)

    def others(self, shown):
        rows = []
        for (name, *key), row in self._ours.items():
            if "keys_per_s" in row and name not in shown:
                ceiling = self._found.get((name, *key))
                rate = row["keys_per_s"]
                rows.append([name, *key, f"{row['us']:.1f}", giga(rate),
                             giga(ceiling), ratio(rate, ceiling)])
        table(["work", "dim", "type", "keys", "µs", "G keys/s", "ceiling",
               "ratio"], rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bench", required=True)
    parser.add_argument("--limit")
    parser.add_argument("--find_host")
    parser.add_argument("sections", nargs="*")
    args = parser.parse_args()
    gpu = subprocess.run(
        ["nvidia-smi", "--query-gpu=name,driver_version",
         "--format=csv,noheader"],
        check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()[0]
    print(f"{datetime.date.today()}, {gpu}, {os.cpu_count()} CPU cores\n")
    print(f"```\n{shlex.join(sys.argv)}\n```\n", flush=True)
    report = Report(run([args.bench, *args.sections]),
                    ceilings(args.limit, args.find_host))
    gather = ["gather, reported", "gather, two contexts"]
    find = ["find, reported", "find, load 0.5"]
    report.rates("gather", gather)
    report.rates("find", find)
    report.latencies()
    report.others(["gather", "find", *gather, *find])


if __name__ == "__main__":
    main()
