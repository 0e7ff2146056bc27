"""The sums of docs/capacity.md are those of `gatherd --check`."""

import itertools
import json
import os
import re
import subprocess
import tempfile
import unittest

import yaml

from tests.integration.harness.exposition import scrape
from tests.integration.harness.process import (
    Server, config_of, find_program, table_of as served_table)

DOC = "docs/capacity.md"

# Parts of a table as the document has them, in its words; sums() below are the
# same in Python.
PARTS = {
    "rows": "(1 + `rows` + spare) × slot",
    "slot": "the row, rounded up to 4",
    "row": "`dim` × 4 (`float32`), 2 (`float16`, `bfloat16`) or 1 (`int8`, "
           "and 4 more)",
    "spare": "`rows` / 32, at least 4, at most 65536",
    "index, hashed": "64 × (1 + `rows` / 3.5)",
    "index, dense": "4 × `rows`",
    "stamps, with `lru` or `lfu`": "4 × (1 + `rows` + spare)",
}
ELEMENT_BYTES = {"float32": 4, "float16": 2, "bfloat16": 2, "int8": 1}

# --check counts whole pages of the parts, and whole buckets of the index.
ROUNDING_BYTES = 3 * 4096


def round_up(value, unit):
    return -(-value // unit) * unit


def sums(table):
    rows = table["tiers"][-1]["host"]["rows"]
    hashed = table["key_space"] == "hashed"
    row = table["dim"] * ELEMENT_BYTES[table["data_type"]]
    row += 4 if table["data_type"] == "int8" else 0
    slot = round_up(row, 4)
    spare = min(max(rows // 32, 4), 65536)
    slots = 1 + rows + spare
    index = 64 * (1 + rows / 3.5) if hashed else 4 * rows
    stamps = 4 * slots if table["eviction"] != "none" else 0
    return slots * slot + index + stamps


def checked(tables):
    """Bytes of each table on the host, by name."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "gatherd.yaml")
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"devices": "cpu", "tables": tables}, file)
        result = subprocess.run(
            [find_program("server/gatherd"), f"--config={path}", "--check"],
            capture_output=True, text=True, check=True)
    report = list(yaml.safe_load_all(result.stdout))[-1]
    assert report["backend"] == "cpu"
    return {line["table"]: line["bytes"] for line in report["memory"]}


def table_of(name, data_type, dim, rows, key_space, eviction="none"):
    return {"name": name, "data_type": data_type, "dim": dim,
            "key_space": key_space, "eviction": eviction,
            "tiers": [{"host": {"rows": rows}}]}


class CapacityTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        with open(DOC, encoding="utf-8") as file:
            cls.text = file.read()

    def test_document_has_these_parts(self):
        section = self.text.split("## Host memory of a table")[1]
        found = dict(re.findall(r"^\| (.+?) \| (.+?) \|$", section.split(
            "\n## ")[0], re.MULTILINE))
        del found["part"]
        self.assertEqual(PARTS, found)

    def test_sums_are_those_of_check(self):
        tables = [
            table_of(f"t{number}", *kind) for number, kind in enumerate(
                itertools.chain(
                    itertools.product(
                        ELEMENT_BYTES, (1, 3, 100, 8192),
                        (1, 1000, 3_333_333), ("hashed", "dense")),
                    itertools.product(
                        ELEMENT_BYTES, (1, 64), (1, 1000, 20_000_000),
                        ("hashed",), ("lru", "lfu"))))]
        found = checked(tables)
        for table in tables:
            with self.subTest(table):
                self.assertAlmostEqual(
                    sums(table), found[table["name"]], delta=ROUNDING_BYTES)

    def test_figures_of_the_example(self):
        match = re.search(
            r"One million rows of 64 `float16` elements take (\d+) MB hashed "
            r"and (\d+) MB dense", self.text.replace("\n", " "))
        found = checked([
            table_of(key_space, "float16", 64, 1_000_000, key_space)
            for key_space in ("hashed", "dense")])
        for number, key_space in zip(match.groups(), ("hashed", "dense")):
            self.assertAlmostEqual(int(number), found[key_space] / 1e6,
                                   delta=0.5)


class ServedTest(unittest.TestCase):

    def test_large_requests_take_what_they_may_and_no_more(self):
        """Each is read wholly before it can be counted and refused."""
        mib = 1 << 20
        limits = {"max_inflight_bytes": "64MiB", "max_message_bytes": "64MiB"}
        server = Server(config_of(
            [served_table("items", 64, 100_000, "dense")], limits))
        self.addCleanup(server.close)
        subprocess.run(
            [find_program("client/gatherbench"), f"--address={server.address}",
             "--tables=items", "--keys-per-call=65536", "--callers=64",
             "--channels=64", "--read-fraction=0.5", "--warmup=100ms",
             "--duration=4s"], stdout=subprocess.DEVNULL, check=False)
        with open(f"/proc/{server.process.pid}/status",
                  encoding="utf-8") as file:
            highest = int(re.search(r"VmHWM:\s+(\d+) kB", file.read())[1]) << 10
        metrics = scrape(server)
        tables = metrics["gatherd_tier_memory_bytes"].value()
        print(f"{(highest - tables) // mib} MiB on top of tables")
        self.assertGreater(
            metrics["gatherd_rejected_total"].value(reason="overload"), 0)
        self.assertLess(highest, tables + (64 + 128 + 512) * mib)
