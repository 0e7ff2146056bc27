"""Configurations that are refused, each with its place in the file."""

import os
import tempfile
import unittest

from tests.integration.harness.process import gatherd

TABLE = """\
tables:
  - name: words
    dim: 4
    key_space: hashed
    tiers:
      - host: {rows: 100}
"""


def at_end_of_table(line):
    return TABLE + "    " + line + "\n"


# (text, line of the fault, what the message names)
BAD = [
    ("", None, ["tables"]),
    ("server: {}\n", None, ["tables"]),
    ("tables: 7\n", 1, ["tables"]),
    ("tables: {}\n", 1, ["tables"]),
    ("- tables\n", 1, []),
    ("tables: [\n", None, []),
    ("tables: []\ntables: []\n", 2, ["tables"]),
    ("tables: []\nnothing: 1\n", 2, ["nothing"]),
    ("tables: []\nserver:\n  adress: a\n", 3, ["adress", "address"]),
    ("tables: []\nserver: 5\n", 2, ["server"]),
    ("tables: []\nserver:\n  address: 1\n", 3, ["address"]),
    ("tables: []\nserver:\n  address: localhost\n", 3, ["address"]),
    ("tables: []\nserver:\n  address: 127.0.0.1:70000\n", 3, ["70000"]),
    ("tables: []\nserver:\n  max_message_bytes: 1MB\n", 3,
     ["max_message_bytes", "1MB", "MiB"]),
    ("tables: []\nserver:\n  max_message_bytes: 0\n", 3,
     ["max_message_bytes"]),
    ("tables: []\nserver:\n  max_message_bytes: -1\n", 3,
     ["max_message_bytes", "-1"]),
    ("tables: []\nserver:\n  max_keys_per_request: 1.5X\n", 3,
     ["max_keys_per_request", "1.5X"]),
    ("tables: []\nserver:\n  max_keys_per_request: 0\n", 3,
     ["max_keys_per_request"]),
    ("tables: []\nserver:\n  default_deadline: 5\n", 3,
     ["default_deadline", "5", "ms"]),
    ("tables: []\nserver:\n  drain_delay: -1s\n", 3, ["drain_delay"]),
    ("tables: []\nserver:\n  drain_delay: [1s]\n", 3, ["drain_delay"]),
    ("tables: []\nserver:\n  drain_delay: 1s\n  drain_delay: 1s\n", 4,
     ["drain_delay"]),
    ("tables: []\nlog: {level: loud}\n", 2, ["level", "loud", "info"]),
    ("tables: []\nlog: {format: xml}\n", 2, ["format", "xml", "json"]),
    ("tables: []\ndevices: gpu\n", 2, ["devices", "gpu", "cuda"]),
    ("tables: []\ndevices: [-1]\n", 2, ["devices", "-1"]),
    ("tables: []\ndevices: [0, 0]\n", 2, ["0"]),
    ("tables:\n  - dim: 4\n", 2, ["name"]),
    (TABLE.replace("words", "a b"), 2, ["name", "a b"]),
    (TABLE.replace("words", "w" * 129), 2, ["name", "128"]),
    (TABLE.replace("words", '""'), 2, ["name"]),
    (TABLE + TABLE[len("tables:\n"):], 7, ["words"]),
    (TABLE.replace("dim: 4", "dim: 0"), 3, ["dim", "0", "8192"]),
    (TABLE.replace("dim: 4", "dim: 8193"), 3, ["dim", "8193", "8192"]),
    (TABLE.replace("dim: 4", "dim: four"), 3, ["dim", "four"]),
    (TABLE.replace("    dim: 4\n", ""), 2, ["dim"]),
    (TABLE.replace("hashed", "sparse"), 4, ["key_space", "sparse", "dense"]),
    (TABLE.replace("100", "0"), 6, ["rows"]),
    (TABLE.replace("100", "-5"), 6, ["rows", "-5"]),
    (TABLE.replace("100", "1Q"), 6, ["rows", "1Q"]),
    (TABLE.replace("{rows: 100}", "{}"), 6, ["rows"]),
    (TABLE.replace("{rows: 100}", "{rows: 100, colour: 1}"), 6, ["colour"]),
    (TABLE.replace("host:", "disk:"), 6, ["disk", "host"]),
    (TABLE.replace("    tiers:\n      - host: {rows: 100}\n", ""), 2,
     ["tiers"]),
    (TABLE.replace("\n      - host: {rows: 100}", " []"), 5, ["tiers"]),
    (at_end_of_table("data_type: float64"), 7, ["data_type", "float64"]),
    (at_end_of_table("eviction: random"), 7, ["eviction", "random", "lru"]),
    (at_end_of_table("default_row: ones"), 7, ["default_row", "ones"]),
    (at_end_of_table("default_row: {constant: x}"), 7, ["constant", "x"]),
    (at_end_of_table("missing_key_policy: ignore"), 7,
     ["missing_key_policy", "ignore", "error"]),
    (at_end_of_table("read_only: perhaps"), 7, ["read_only", "perhaps"]),
    (at_end_of_table("dim: 4"), 7, ["dim"]),
    (at_end_of_table("source: {rows: a.npy}"), 7, ["keys"]),
    (at_end_of_table("source: {keys: a.npy}"), 7, ["rows"]),
    (at_end_of_table("source: {rows: a.npy, keys: b.npy}").replace(
        "hashed", "dense"), 7, ["keys"]),
    (at_end_of_table("eviction: lru").replace("hashed", "dense"), 7,
     ["eviction"]),
    ("tables: []\nserver:\n  tls: {}\n", 3, ["certificate"]),
    ("tables: []\nserver:\n  tls: {certificate: /dev/null}\n", 3, ["key"]),
    ("tables: []\nserver:\n  tls:\n    certificate: /absent/c\n    key: b\n", 4,
     ["certificate", "/absent/c", "allowed"]),
    ("tables: []\nserver:\n  tls: {certificates: a, key: b}\n", 3,
     ["certificates", "client_ca"]),
    ("tables: []\nserver:\n  tls: {certificate: [a], key: b}\n", 3,
     ["certificate"]),
    ("tables: []\nserver:\n  auth: {}\n", 3,
     ["read_tokens_file", "write_tokens_file"]),
    ("tables: []\nserver:\n  auth:\n    read_tokens_file: /absent/r\n", 4,
     ["read_tokens_file", "/absent/r", "allowed"]),
    ("tables: []\nserver:\n  auth: {write_tokens_file: /tmp}\n", 3,
     ["write_tokens_file", "/tmp"]),
    ("tables: []\nserver:\n  auth: {tokens_file: a}\n", 3,
     ["tokens_file", "read_tokens_file"]),
    ("tables: []\nserver:\n  health_address: 7402\n", 3,
     ["health_address", "7402"]),
    ("tables: []\nserver:\n  reflection: perhaps\n", 3,
     ["reflection", "perhaps", "false"]),
    # Parts of the format that this version does not have yet.
    ("tables: []\nserver:\n  snapshot_directory: /tmp\n", 3,
     ["snapshot_directory"]),
    (TABLE + "      - rocksdb: {path: /tmp/x}\n", 7, ["rocksdb"]),
    (TABLE + "      - redis: {address: 'a:1'}\n", 7, ["redis"]),
]

GOOD = [
    "tables: []\n",
    TABLE,
    at_end_of_table("default_row: {constant: -0.5}"),
    at_end_of_table("default_row: zeros"),
    at_end_of_table("eviction: lfu"),
    TABLE.replace("100", "2K"),
    TABLE.replace("words", "A-z_0.9"),
    "tables: []\nserver: {address: 'unix:/tmp/s', drain_delay: 250ms,\n"
    "  default_deadline: 500us, shutdown_timeout: 1m, health_address: '',\n"
    "  max_inflight_bytes: 2GiB, snapshot_directory: ''}\n"
    "log: {level: debug, format: json}\ndevices: [1, 0]\n",
    "# a comment\ntables:\n- name: t\n  dim: 1\n  key_space: dense\n"
    "  tiers: [gpu: {rows: 1K, spread: replicated}, host: {rows: 2K}]\n",
]


class BadConfigTest(unittest.TestCase):

    def check(self, text):
        with tempfile.NamedTemporaryFile(
                "w", suffix=".yaml", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            return gatherd(f"--config={file.name}", "--check"), file.name

    def test_each_fault_is_named_with_its_place(self):
        for text, line, names in BAD:
            with self.subTest(config=text):
                result, path = self.check(text)
                self.assertEqual(result.returncode, 2,
                                 result.stdout + result.stderr)
                place = r"\d+" if line is None else line
                self.assertRegex(
                    result.stderr,
                    rf"{os.path.basename(path)}:{place}:\d+: \S")
                for name in names:
                    self.assertIn(name, result.stderr)

    def test_what_is_allowed(self):
        for text in GOOD:
            with self.subTest(config=text):
                result, _ = self.check(text)
                self.assertEqual(result.returncode, 0, result.stderr)
