"""The element types of rows: their names, their numbers, their layout."""

import dataclasses
from typing import Dict

import numpy as np

# What a row may have at most.
MAX_DIM = 8192


@dataclasses.dataclass(frozen=True)
class DataType:
    """How the elements of a row travel: little-endian, without padding."""

    name: str
    number: int  # of gatherd.v1.DataType
    dtype: np.dtype  # of an element; uint16 stands for the bits of bfloat16
    scale_bytes: int = 0  # of the float32 scale behind the elements of a row

    def row_bytes(self, dim: int) -> int:
        return dim * self.dtype.itemsize + self.scale_bytes


FLOAT32 = DataType("float32", 1, np.dtype("<f4"))
FLOAT16 = DataType("float16", 2, np.dtype("<f2"))
BFLOAT16 = DataType("bfloat16", 3, np.dtype("<u2"))
INT8 = DataType("int8", 4, np.dtype("i1"), scale_bytes=4)

_ALL = (FLOAT32, FLOAT16, BFLOAT16, INT8)
BY_NAME: Dict[str, DataType] = {t.name: t for t in _ALL}
BY_NUMBER: Dict[int, DataType] = {t.number: t for t in _ALL}
