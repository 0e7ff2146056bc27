"""gatherctl: every command, its output as text and JSON, its exit codes."""

import json
import os
import shutil
import tempfile

import numpy as np

from tests.integration.harness import npy_files
from tests.integration.harness.api import (
    INT64_MAX, INT64_MIN, ApiTestCase)
from tests.integration.harness.process import (
    BACKEND, Server, config_of, free_port, gatherctl, table_of)

DIM = 3


def fnv(text):
    value = 0xCBF29CE484222325
    for byte in text.encode():
        value = (value ^ byte) * 0x100000001B3 % 2 ** 64
    return value - 2 ** 64 if value >= 2 ** 63 else value


class GatherctlTest(ApiTestCase):
    CONFIG = config_of([
        table_of("words", DIM, 1000),
        table_of("dense", DIM, 10, "dense"),
        table_of("fixed", DIM, 10, read_only=True),
        table_of("half", 2, 10, data_type="float16"),
    ])

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="gatherd_test_")
        self.addCleanup(shutil.rmtree, self.folder)

    def run_ctl(self, *args, code=0):
        result = gatherctl(f"--address={self.server.address}", *args)
        self.assertEqual(result.returncode, code,
                         result.stdout + result.stderr)
        if code != 0:
            self.assertNotEqual(result.stderr.strip(), "")
            return result.stderr
        return result.stdout

    def run_json(self, *args):
        answer = json.loads(self.run_ctl("--json", *args))
        self.assertIsInstance(answer, dict)
        return answer

    def test_stages_of_requests(self):
        metrics = f"--metrics={self.server.metrics_address}"
        before = {stage["stage"]: stage for stage in self.run_json(
            "stages", metrics)["stages"]}
        self.assertEqual(list(before), ["decode", "queue", "device", "encode",
                                        "whole Lookup"])
        for _ in range(20):
            self.client.lookup("words", range(500))
        after = self.run_json("stages", metrics)["stages"]
        for stage in after:
            self.assertEqual(
                stage["requests"] - before[stage["stage"]]["requests"], 20)
            self.assertGreaterEqual(stage["p99_us"], stage["p50_us"])
        self.assertGreater(after[2]["mean_us"], 0)
        self.assertRegex(self.run_ctl("stages", metrics),
                         r"(?m)^device +\d+ +[\d.]+ +[\d.]+ +[\d.]+$")
        # Of an interval in which nothing was asked.
        for stage in self.run_json("stages", metrics,
                                   "--interval=100ms")["stages"]:
            self.assertEqual(stage["requests"], 0)

    def test_stages_of_no_server(self):
        self.assertIn("/metrics", self.run_ctl(
            "stages", f"--metrics=127.0.0.1:{free_port()}", code=1))
        self.assertIn("--metrics", self.run_ctl("stages", code=2))
        for wrong in ("--interval=0", "--interval=x", "--mode=set"):
            self.assertIn(wrong.split("=")[0],
                          self.run_ctl("stages", wrong, code=2))
        self.assertIn("--metrics", self.run_ctl(
            "info", "--metrics=localhost:1", code=2))

    def test_info_tables_and_health(self):
        self.assertIn(BACKEND, self.run_ctl("info"))
        self.assertIn(BACKEND, json.dumps(self.run_json("info")))
        text = self.run_ctl("tables")
        as_json = json.dumps(self.run_json("tables"))
        for name in ("words", "dense", "fixed", "half", "float16", "hashed"):
            self.assertIn(name, text)
            self.assertIn(f'"{name}"', as_json)
        self.assertIn("SERVING", self.run_ctl("health"))
        self.assertIn("SERVING", json.dumps(self.run_json("health")))

    def test_update_lookup_erase(self):
        self.run_ctl("update", "words", "7=1.5,-2,3e2", "-8=4,5,6")
        self.assertRows(self.client.rows("words", [7, -8]),
                        [[1.5, -2, 300], [4, 5, 6]])
        text = self.run_ctl("lookup", "words", "7", "-8", "9")
        for part in ("1.5", "-2", "300", "missing"):
            self.assertIn(part, text)
        as_json = json.dumps(self.run_json("lookup", "words", "7", "-8", "9"))
        for part in ("1.5", "-2", "300", "-8"):
            self.assertIn(part, as_json)
        self.run_ctl("erase", "words", "7", "-8")
        self.assertEqual(self.client.lookup("words", [7, -8]).num_missing, 2)
        for command in (("update", "words", "1=1,2,3"),
                        ("erase", "words", "1")):
            self.run_json(*command)

    def test_modes(self):
        self.run_ctl("update", "--mode=set", "words", "20=1,1,1")
        self.run_ctl("update", "--mode=add", "words", "20=1,2,3")
        self.run_ctl("update", "words", "20=9,9,9", "21=1,1,1",
                     "--mode=set_existing")
        self.assertRows(self.client.rows("words", [20, 21]),
                        [[9, 9, 9], [0, 0, 0]])
        self.run_ctl("update", "--mode=add", "words", "20=1,2,3")
        self.assertRows(self.client.rows("words", [20]), [[10, 11, 12]])

    def test_keys_at_the_ends_of_their_range(self):
        keys = [INT64_MIN, INT64_MAX, -1, 0]
        self.run_ctl("update", "words",
                     *[f"{key}={i},0,0" for i, key in enumerate(keys)])
        self.assertRows(self.client.rows("words", keys),
                        [[i, 0, 0] for i in range(4)])
        self.run_ctl("erase", "words", *map(str, keys))
        for key in (INT64_MAX + 1, INT64_MIN - 1, "x", "1.5", "", "0x"):
            self.run_ctl("lookup", "words", str(key), code=2)

    def test_fnv_keys(self):
        for text in ("king", "", "na\u00efve", "two words", "a=b"):
            key = fnv(text)
            self.run_ctl("update", "words", f"fnv:{text}=1,2,3")
            with self.subTest(text=text):
                self.assertRows(self.client.rows("words", [key]),
                                [[1, 2, 3]])
                self.assertIn("2", self.run_ctl("lookup", "words",
                                                f"fnv:{text}"))
            self.run_ctl("erase", "words", f"fnv:{text}")
            self.assertEqual(
                self.client.lookup("words", [key]).num_missing, 1)

    def test_load(self):
        rows = np.arange(100 * DIM, dtype=np.float32).reshape(100, DIM)
        keys = np.arange(100) - 50 + 5000
        path = os.path.join(self.folder, "")
        npy_files.save(self.folder, "rows.npy", rows)
        npy_files.save(self.folder, "keys.npy", keys)
        npy_files.save(self.folder, "ten.npy", rows[:10])
        self.run_ctl("load", "words", path + "rows.npy",
                     f"--keys={path}keys.npy")
        self.assertRows(self.client.rows("words", keys), rows)
        self.run_ctl("load", "dense", path + "ten.npy")
        self.assertRows(self.client.rows("dense", range(10)), rows[:10])
        self.run_json("load", "dense", path + "ten.npy")
        self.assertIn("absent.npy", self.run_ctl(
            "load", "dense", path + "absent.npy", code=1))
        self.client.erase("words", keys)
        self.client.erase("dense", range(10))

    def test_a_type_other_than_float32(self):
        self.run_ctl("update", "half", "1=1.5,65504")
        text = self.run_ctl("lookup", "half", "1")
        self.assertIn("1.5", text)
        self.assertIn("65504", text)

    def test_refusals_of_the_server(self):
        for args, texts in (
                (("lookup", "absent", "1"), ("NOT_FOUND", "absent")),
                (("update", "fixed", "1=1,2,3"),
                 ("FAILED_PRECONDITION", "fixed")),
                (("erase", "fixed", "1"), ("FAILED_PRECONDITION", "fixed")),
                (("update", "words", "1=1,2"),
                 ("INVALID_ARGUMENT", "words"))):
            with self.subTest(args=args):
                error = self.run_ctl(*args, code=1)
                for text in texts:
                    self.assertIn(text, error)

    def test_bad_usage(self):
        for args in ((), ("nothing",), ("lookup",), ("lookup", "words", "x"),
                     ("update", "words"), ("update", "words", "1"),
                     ("update", "words", "1=a,b,c"),
                     ("update", "words", "1="), ("erase",),
                     ("update", "--mode=replace", "words", "1=1,2,3"),
                     ("--timeout=soon", "info"), ("--nothing", "info"),
                     ("info", "more"), ("load", "words")):
            with self.subTest(args=args):
                self.run_ctl(*args, code=2)

    def test_nobody_answers(self):
        result = gatherctl("--address=127.0.0.1:1", "--timeout=2s", "info")
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, "UNAVAILABLE|DEADLINE_EXCEEDED")

    def test_save_says_that_it_comes_later(self):
        error = self.run_ctl("save", "words", "folder", code=1)
        self.assertIn("save", error)

    def test_health_of_a_server_that_drains(self):
        with Server(config_of([], {"drain_delay": "5s"})) as server:
            server.signal()
            result = gatherctl(f"--address={server.address}", "health")
            self.assertEqual(result.returncode, 1, result.stdout)
            self.assertIn("NOT_SERVING", result.stdout + result.stderr)
