#!/usr/bin/env python3
"""Runs gpu_scale_bench and prints a Markdown table, a column a number of GPUs.

  tests/bench/gpu_scale_bench.py \
      --bench=bazel-bin/tests/bench/gpu_scale_bench \
      [--engine] [--twogpu=FILE] [--csv=FILE] [NUMBER_OF_GPUS ...]

--twogpu: a ceiling program for two GPUs that is no part of this tree; it
prints a JSON object a line. --engine: the engine's part alone. --csv: what was
measured, for a plot.
"""

import argparse
import csv
import datetime
import json
import os
import shlex
import subprocess
import sys

_TWO_GPUS = ["--mode", "vmm", "--dims", "32,64,128", "--batches", "1048576",
             "--dists", "uniform,zipf1.05", "--shard_gb", "8"]
_CEILINGS = {
    "vmm_gather_both_shards_from_both": ["dense, rows wherever they are"],
    "local_only_from_both": ["dense, divided by owner"],
    "owner_gathers_pushes_rows_both": [
        "dense, pushed by owners", "hashed, pushed by owners",
        "hashed, rows wherever they are"],
}
_WAYS = ["rows wherever they are", "pushed by owners", "divided by owner",
         "to pinned memory"]


def run(command):
    """The objects that a program printed."""
    output = subprocess.run(
        command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return [json.loads(line) for line in output.splitlines()
            if line.startswith("{")]


def ceilings(program):
    """(name, dim, keys) -> keys a second of two GPUs."""
    found = {}
    for row in run([program, *_TWO_GPUS]) if program else []:
        for name in _CEILINGS.get(row["name"], []):
            keys = "uniform" if row["distribution"] == "uniform" else "Zipf"
            found[(name, row["dim"], keys)] = row["keys_per_s"]
    return found


def key_of(row):
    return row["name"], row.get("dim", ""), row.get("keys", "")


def table(header, rows):
    print("| " + " | ".join(header) + " |")
    print("|" + "---|" * len(header))
    for row in rows:
        print("| " + " | ".join(map(str, row)) + " |")
    print()


def lookups(measured, numbers, found):
    """G keys a second, the most GPUs over linear, and the ceiling of two."""
    rows = []
    names = list(dict.fromkeys(key for _, key in measured if key[1] != ""))
    # One way after the other, of dense tables first.
    names.sort(key=lambda key: ([*_WAYS, key[0].split(", ")[1]].index(
        key[0].split(", ")[1]), key[0], key[1], key[2] != "uniform"))
    for key in names:
        rates = [measured.get((n, key)) for n in numbers]
        # One GPU's rows are all its own, however a batch is divided.
        kind = key[0].split(",")[0]
        one = measured.get(
            (1, key),
            measured.get((1, (f"{kind}, rows wherever they are", *key[1:]))))
        linear = "–"
        if one and rates[-1] and numbers[-1] > 1:
            linear = f"{rates[-1] / one / numbers[-1]:.2f}"
        two, ceiling = measured.get((2, key)), found.get(key)
        rows.append([*key,
                     *(f"{r / 1e9:.2f}" if r else "–" for r in rates), linear,
                     f"{ceiling / 1e9:.2f}" if ceiling else "–",
                     f"{two / ceiling:.2f}" if two and ceiling else "–"])
    for key in sorted(found.keys() - set(names)):
        rows.append([*key, *("–" for _ in numbers), "–",
                     f"{found[key] / 1e9:.2f}", "–"])
    table(["lookups, G keys/s", "dim", "keys", *map(str, numbers),
           f"{numbers[-1]} of linear", "ceiling of 2", "ratio"], rows)


def values(measured, numbers):
    names = list(dict.fromkeys(key for _, key in measured if key[1] == ""))
    rows = []
    for key in names:
        figures = [measured.get((n, key)) for n in numbers]
        rows.append([key[0], *(f"{x:.4g}" if x is not None else "–"
                               for x in figures)])
    table(["GPUs", *map(str, numbers)], rows)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", required=True)
    parser.add_argument("--engine", action="store_true")
    parser.add_argument("--twogpu")
    parser.add_argument("--csv")
    parser.add_argument("numbers", nargs="*", type=int)
    args = parser.parse_args()
    gpus = subprocess.run(
        ["nvidia-smi", "--query-gpu=name,driver_version",
         "--format=csv,noheader"],
        check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    print(f"{datetime.date.today()}, {len(gpus)} × {gpus[0]}, "
          f"{os.cpu_count()} CPU cores\n")
    print(f"```\n{shlex.join(sys.argv)}\n```\n", flush=True)
    rows = run([args.bench, *(["engine"] if args.engine else []),
                *map(str, args.numbers)])
    if args.csv:
        with open(args.csv, "w", newline="") as file:
            writer = csv.DictWriter(
                file, ["gpus", "name", "dim", "keys", "keys_per_s", "ceiling",
                       "value"])
            writer.writeheader()
            writer.writerows(rows)
    measured = {(row["gpus"], key_of(row)):
                row.get("keys_per_s", row.get("value")) for row in rows}
    numbers = sorted({row["gpus"] for row in rows})
    if not args.engine:
        found = ceilings(args.twogpu)
        found.update({key_of(row): row["ceiling"] for row in rows
                      if row["gpus"] == 2 and "ceiling" in row})
        lookups(measured, numbers, found)
    values(measured, numbers)


if __name__ == "__main__":
    main()
