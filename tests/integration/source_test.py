"""Tables loaded at start: what is read, and what is refused with which words."""

import os
import shutil
import tempfile

import numpy as np

from tests.integration.harness import npy_files
from tests.integration.harness.api import ApiTestCase
from tests.integration.harness.process import (
    TIER, Server, config_of, table_of)

DIM = 5
ROWS = np.arange(20 * DIM, dtype=np.float32).reshape(20, DIM) / 8
KEYS = np.arange(20, dtype=np.int64) * -(2 ** 58) + 3


class SourceTest(ApiTestCase):

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="gatherd_test_")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        npy_files.save(self.folder, "rows.npy", ROWS)
        npy_files.save(self.folder, "keys.npy", KEYS)

    def hashed(self, rows="rows.npy", keys="keys.npy", **settings):
        return table_of("words", DIM, 100,
                        source={"rows": rows, "keys": keys}, **settings)

    def dense(self, rows="rows.npy", num_rows=30, **settings):
        return table_of("dense", DIM, num_rows, "dense",
                        source={"rows": rows}, **settings)

    def start(self, tables, **options):
        """From a copy of the folder, which closing the server removes."""
        folder = tempfile.mkdtemp(prefix="gatherd_test_")
        shutil.copytree(self.folder, folder, dirs_exist_ok=True)
        server = Server(config_of(tables), folder=folder, **options)
        self.addCleanup(server.close)
        return server

    def serve(self, *tables):
        return self.connect(self.start(list(tables)))

    def refuse(self, table, *texts):
        """The process ends with 1, naming table's file and the reason."""
        server = self.start([table], start=False)
        self.assertEqual(server.wait_exit(), 1, server.log())
        for text in texts:
            self.assertIn(text, server.log())

    def test_hashed_and_dense(self):
        client = self.serve(self.hashed(), self.dense())
        self.assertRows(client.rows("words", KEYS), ROWS)
        self.assertEqual(client.table_info("words").num_rows, 20)
        self.assertRows(client.rows("dense", range(30)),
                        np.vstack([ROWS, np.zeros((10, DIM))]))
        self.assertEqual(client.table_info("dense").num_rows, 30)

    def test_loaded_rows_can_be_written_but_not_if_read_only(self):
        client = self.serve(self.hashed(read_only=True), self.dense())
        client.update("dense", [0], [[9] * DIM])
        self.assertRows(client.rows("dense", [0, 1]), [[9] * DIM, ROWS[1]])
        self.assertEqual(client.lookup("words", KEYS).num_missing, 0)

    def test_types_of_rows(self):
        for dtype in ("<f4", "<f2", "<f8"):
            with self.subTest(dtype=dtype):
                npy_files.save(self.folder, "typed.npy", ROWS.astype(dtype))
                client = self.serve(self.dense("typed.npy"),
                                    self.hashed("typed.npy"))
                self.assertRows(client.rows("dense", range(20)), ROWS)
                self.assertRows(client.rows("words", KEYS), ROWS)

    def test_version_2_of_the_format_and_int32_keys(self):
        npy_files.save(self.folder, "rows2.npy", ROWS, (2, 0))
        keys = np.arange(20, dtype="<i4") - 10
        npy_files.save(self.folder, "keys2.npy", keys, (2, 0))
        client = self.serve(self.hashed("rows2.npy", "keys2.npy"))
        self.assertRows(client.rows("words", keys), ROWS)

    def test_of_duplicate_keys_the_last_stands(self):
        keys = np.repeat(np.arange(10), 2)
        npy_files.save(self.folder, "twice.npy", keys)
        client = self.serve(self.hashed(keys="twice.npy"))
        self.assertRows(client.rows("words", range(10)), ROWS[1::2])
        self.assertEqual(client.table_info("words").num_rows, 10)

    def test_no_rows_and_absolute_paths(self):
        npy_files.save(self.folder, "none.npy", np.zeros((0, DIM), "<f4"))
        npy_files.save(self.folder, "nokeys.npy", np.zeros(0, "<i8"))
        client = self.serve(
            self.hashed("none.npy", "nokeys.npy"),
            self.dense(os.path.join(self.folder, "rows.npy")))
        self.assertEqual(client.table_info("words").num_rows, 0)
        self.assertRows(client.rows("dense", [19]), ROWS[19:])

    def test_exactly_as_many_rows_as_the_table_and_one_more(self):
        client = self.serve(self.dense(num_rows=20))
        self.assertRows(client.rows("dense", range(20)), ROWS)
        self.refuse(self.dense(num_rows=19), "rows.npy", "20", "19")
        self.refuse({**self.hashed(), "tiers": [{TIER: {"rows": 19}}]},
                    "rows.npy", "20", "19")

    def test_a_missing_file(self):
        self.refuse(self.dense("absent.npy"), "absent.npy")
        self.refuse(self.hashed(keys="absent.npy"), "absent.npy")

    def test_a_folder_in_place_of_a_file(self):
        os.mkdir(os.path.join(self.folder, "folder.npy"))
        self.refuse(self.dense("folder.npy"), "folder.npy")

    def test_foreign_and_damaged_files(self):
        changes = {
            "empty": lambda b: b"",
            "text": lambda b: b"not an array\n" * 50,
            "magic": lambda b: b"\x94NUMPY"[::-1] + b[6:],
            "version": lambda b: b[:6] + b"\x07\x00" + b[8:],
            "header cut": lambda b: b[:20],
            "header huge": lambda b: b[:8] + b"\xff\xff" + b[10:200],
            "rows cut": lambda b: b[:-1],
            "rows cut in the middle": lambda b: b[:len(b) // 2],
            "row too many": lambda b: b + bytes(4 * DIM),
            "no shape": lambda b: b.replace(b"shape", b"shame"),
            "negative": lambda b: b.replace(b"(20, 5)", b"(-2, 5)"),
            "shape too large": lambda b: b.replace(
                b"(20, 5), }" + b" " * 18, b"(9223372036854775807, 5), }"
                + b" "),
            "binary": lambda b: b[:10] + bytes(range(118)) + b[128:],
        }
        for name, change in changes.items():
            with self.subTest(change=name):
                npy_files.save(self.folder, "bad.npy", ROWS)
                npy_files.damage(self.folder, "bad.npy", change)
                self.refuse(self.dense("bad.npy"), "bad.npy", "dense")

    def test_unfit_arrays(self):
        unfit = {
            "dim": ROWS[:, :4], "rank 1": ROWS[:, 0], "rank 3": ROWS[None],
            "integers": ROWS.astype("<i4"), "big-endian": ROWS.astype(">f4"),
            "column-major": np.asfortranarray(ROWS),
            "complex": ROWS.astype("<c8"), "text": ROWS.astype("U4"),
        }
        for name, array in unfit.items():
            with self.subTest(array=name):
                npy_files.save(self.folder, "unfit.npy", array)
                self.refuse(self.dense("unfit.npy"), "unfit.npy")

    def test_unfit_keys(self):
        unfit = {"fewer": KEYS[:19], "more": np.append(KEYS, 1),
                 "floats": KEYS.astype("<f8"), "rank 2": KEYS[:, None],
                 "big-endian": KEYS.astype(">i8"),
                 "unsigned": KEYS.astype("<u4")}
        for name, array in unfit.items():
            with self.subTest(keys=name):
                npy_files.save(self.folder, "unfit.npy", array)
                self.refuse(self.hashed(keys="unfit.npy"), "unfit.npy")
