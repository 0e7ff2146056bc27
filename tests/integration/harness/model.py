"""A table as plainly as it can be written: what a server must answer.

Rows are kept as one-row arrays of the table's own layout (see row_format).
"""

import numpy as np

from proto.gatherd.v1 import gatherd_pb2 as pb
from tests.integration.harness.api import ADD, FLOAT32, SET_EXISTING
from tests.integration.harness.row_format import (
    convert, from_float32, to_float32)


class Model:

    def __init__(self, data_type, dim, num_rows=None, default=0.0):
        """Dense if num_rows is given."""
        self.data_type, self.dim, self.num_rows = data_type, dim, num_rows
        self.default = from_float32(
            data_type, np.full((1, dim), default, np.float32))
        self.rows = {}

    def has(self, key):
        if self.num_rows is None:
            return key in self.rows
        return 0 <= key < self.num_rows

    def row(self, key):
        return self.rows.get(key, self.default)

    def __len__(self):
        return len(self.rows) if self.num_rows is None else self.num_rows

    def update(self, keys, rows, mode, data_type):
        """(updated, inserted, skipped); `rows` in data_type's layout."""
        existed = {key for key in keys if self.has(key)}
        written = {key for key in keys if key in existed or (
            self.num_rows is None and mode != SET_EXISTING)}
        sums = {key: to_float32(self.data_type, self.row(key))
                for key in written}
        for i, key in enumerate(keys):
            if key not in written:
                continue
            if mode == ADD:
                sums[key] = sums[key] + to_float32(data_type, rows[i:i + 1])
            else:
                self.rows[key] = convert(data_type, self.data_type,
                                         rows[i:i + 1])
        if mode == ADD:
            for key, total in sums.items():
                self.rows[key] = from_float32(self.data_type, total)
        return (len(written & existed), len(written - existed),
                len(set(keys) - written))

    def erase(self, keys):
        existed = {key for key in keys if self.has(key)}
        for key in existed:
            self.rows.pop(key, None)
        return len(existed)

    def lookup(self, keys, output_type):
        """(rows in output_type's layout, missing keys)"""
        rows = np.vstack([self.row(key) if self.has(key) else self.default
                          for key in keys])
        return (convert(self.data_type, output_type, rows),
                [key for key in keys if not self.has(key)])

    def pool(self, keys, offsets, weights, pooling):
        """float32 rows, one a bag."""
        rows, _ = self.lookup(keys, FLOAT32)
        if not weights:
            weights = [1] * len(keys)
        weighted = rows * np.array(weights, np.float32)[:, None]
        bags = []
        for begin, end in zip(offsets, [*offsets[1:], len(keys)]):
            total = weighted[begin:end].sum(axis=0, dtype=np.float64)
            divisor = sum(weights[begin:end])
            if pooling == pb.POOLING_MEAN:
                total = total / divisor if divisor else total * 0
            bags.append(total)
        return np.array(bags, np.float32).reshape(-1, self.dim)
