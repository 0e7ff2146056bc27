"""Real word vectors, as a dense and as a hashed table."""

import json
import os

import numpy as np

from tests.integration.harness.api import (
    FLOAT16, INT8, ApiTestCase, float32_rows, missing_keys)
from tests.integration.harness.process import (
    Server, config_of, gatherctl, table_of)

DATA = os.path.abspath("testdata/words_2000")
DIM = 100


class WordsTest(ApiTestCase):

    @classmethod
    def setUpClass(cls):
        with open(DATA + ".txt", encoding="utf-8") as file:
            cls.words = file.read().split("\n")[:-1]
        cls.rows = np.load(DATA + "_100d.npy")
        cls.keys = np.load(DATA + "_keys.npy")
        hashed = {"rows": DATA + "_100d.npy", "keys": DATA + "_keys.npy"}
        cls.use(Server(config_of([
            table_of("words", DIM, 5000, source=hashed),
            table_of("by_rank", DIM, 2000, "dense",
                     source={"rows": hashed["rows"]}),
            table_of("small", DIM, 2000, data_type="int8", source=hashed),
            table_of("tiered", DIM, 5000, tier="gpu", source=hashed),
        ])))

    def test_every_word_under_its_hash_and_its_rank(self):
        for table in ("words", "tiered"):
            result = self.client.lookup(table, self.keys)
            self.assertEqual(result.num_missing, 0)
            self.assertRows(float32_rows(result), self.rows)
        self.assertRows(self.client.rows("by_rank", range(2000)), self.rows)

    def nearest(self, word, count=5):
        index = self.words.index(word)
        rows = self.client.rows("words", self.keys)
        rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        order = np.argsort(-rows @ rows[index])[1:count + 1]
        return [self.words[i] for i in order]

    def test_nearest_words_are_words_alike(self):
        self.assertIn("france", self.nearest("paris"))
        self.assertIn("tuesday", self.nearest("monday"))

    def test_smaller_types_stay_close(self):
        half = self.client.lookup("words", self.keys, output_type=FLOAT16)
        np.testing.assert_array_equal(
            np.frombuffer(half.values, "<f2").reshape(-1, DIM),
            self.rows.astype("<f2"))
        small = self.client.rows("small", self.keys)
        largest = np.abs(self.rows).max(axis=1, keepdims=True)
        self.assertTrue(
            (np.abs(small - self.rows) <= largest / 127 * 0.501).all())
        result = self.client.lookup("small", self.keys[:10],
                                    output_type=INT8)
        self.assertEqual(len(result.values), 10 * (DIM + 4))

    def test_a_word_that_is_not_there(self):
        keys = [int(self.keys[0]), 12345, int(self.keys[1])]
        result = self.client.lookup("words", keys)
        self.assertEqual(missing_keys(result, keys), [12345])

    def test_update_and_erase_of_a_word(self):
        key = int(self.keys[7])
        self.client.update("words", [key], np.ones((1, DIM)))
        self.assertRows(self.client.rows("words", [key]), np.ones((1, DIM)))
        self.client.erase("words", [key])
        self.assertEqual(self.client.lookup("words", [key]).num_missing, 1)
        self.client.update("words", [key], self.rows[7:8])

    def test_gatherctl_finds_words_by_their_text(self):
        index = self.words.index("king")
        for table, key in (("by_rank", str(index)), ("words", "fnv:king")):
            result = gatherctl(f"--address={self.server.address}", "--json",
                               "lookup", table, key)
            self.assertEqual(result.returncode, 0, result.stderr)
            row, = json.loads(result.stdout)["rows"]
            self.assertFalse(row["missing"])
            self.assertRows([row["values"]], self.rows[[index]])
