"""Random requests over tables of every kind, against a plain reference."""

import random

import numpy as np

from proto.gatherd.v1 import gatherd_pb2 as pb
from tests.integration.harness import row_format
from tests.integration.harness.api import (
    ADD, BFLOAT16, BOUNDARY_KEYS, CALL_TIMEOUT_S, FLOAT16, FLOAT32, INT8, SET,
    SET_EXISTING, ApiTestCase, float32_rows, missing_keys, table_lookup,
    table_update)
from tests.integration.harness.model import Model
from tests.integration.harness.process import config_of, table_of

TYPES = {"float32": FLOAT32, "float16": FLOAT16, "bfloat16": BFLOAT16,
         "int8": INT8}
DIMS = (1, 6, 19)
DENSE_ROWS = 40
ROUNDS = 400


class ModelTest(ApiTestCase):
    CONFIG = config_of([
        table_of(f"{data_type}_{dim}_{space}", dim,
                 DENSE_ROWS if space == "dense" else 1000, space,
                 data_type=data_type, default_row={"constant": 0.75})
        for data_type in TYPES for dim in DIMS
        for space in ("dense", "hashed")])

    def setUp(self):
        self.models = {}
        for table in self.CONFIG["tables"]:
            num_rows = DENSE_ROWS if table["key_space"] == "dense" else None
            self.models[table["name"]] = Model(
                TYPES[table["data_type"]], table["dim"], num_rows, 0.75)
        self.random = random.Random(11)
        self.numpy_random = np.random.default_rng(11)

    def some_tables(self):
        return self.random.choices(list(self.models),
                                   k=self.random.randint(1, 4))

    def some_keys(self):
        """Few different ones, so that they meet again."""
        count = self.random.choice((1, 2, 5, 17, 64))
        return [self.random.choice(BOUNDARY_KEYS) if self.random.random() < .1
                else self.random.randint(-3, DENSE_ROWS + 3)
                for _ in range(count)]

    def some_rows(self, data_type, count, dim):
        scale = self.random.choice((0, 1e-3, 1, 300))
        rows = self.numpy_random.standard_normal((count, dim)) * scale
        return row_format.from_float32(data_type, rows.astype(np.float32))

    def update(self):
        parts, expected = [], []
        for name in self.some_tables():
            keys, model = self.some_keys(), self.models[name]
            mode = self.random.choice((SET, ADD, SET_EXISTING))
            given = self.random.choice(list(TYPES.values()))
            rows = self.some_rows(given, len(keys), model.dim)
            parts.append(table_update(name, keys, rows.tobytes(), mode,
                                      given))
            expected.append(model.update(keys, rows, mode, given))
        results = self.client.update_all(*parts)
        self.assertEqual(
            [(r.num_updated, r.num_inserted, r.num_skipped)
             for r in results], expected)

    def erase(self):
        parts, expected = [], []
        for name in self.some_tables():
            keys = self.some_keys()
            parts.append(pb.TableErase(table=name, keys=keys))
            expected.append(self.models[name].erase(keys))
        reply = self.client.embeddings.Erase(
            pb.EraseRequest(erases=parts), timeout=CALL_TIMEOUT_S)
        self.assertEqual([r.num_erased for r in reply.results], expected)

    def lookup(self):
        names = self.some_tables()
        parts = [(name, self.some_keys(),
                  self.random.choice(list(TYPES.values())))
                 for name in names]
        results = self.client.lookup_all(*[
            table_lookup(name, keys, output_type=output_type)
            for name, keys, output_type in parts])
        for (name, keys, output_type), result in zip(parts, results):
            rows, missing = self.models[name].lookup(keys, output_type)
            self.assertEqual(missing_keys(result, keys), missing)
            row_format.assert_same_rows(
                output_type, row_format.parse_rows(
                    output_type, result.values, len(keys)), rows, name)

    def pooled_lookup(self):
        name, keys = self.random.choice(list(self.models)), self.some_keys()
        offsets = [0] + sorted(self.random.choices(
            range(len(keys) + 1), k=self.random.randint(0, 9)))
        weights = self.random.choice(
            ([], [self.random.uniform(0.1, 2) for _ in keys]))
        pooling = self.random.choice((pb.POOLING_SUM, pb.POOLING_MEAN))
        result = self.client.lookup(
            name, keys, offsets=offsets, weights=weights, pooling=pooling,
            output_type=FLOAT32)
        self.assertEqual(missing_keys(result, keys),
                         self.models[name].lookup(keys, FLOAT32)[1])
        np.testing.assert_allclose(
            float32_rows(result),
            self.models[name].pool(keys, offsets, weights, pooling),
            rtol=1e-4, atol=1e-2)

    def test_random_requests(self):
        steps = (self.update, self.update, self.erase, self.lookup,
                 self.lookup, self.pooled_lookup)
        for turn in range(ROUNDS):
            with self.subTest(turn=turn):
                self.random.choice(steps)()
        for name, model in self.models.items():
            self.assertEqual(self.client.table_info(name).num_rows,
                             len(model), name)
