"""Requests of tables that are spread over several servers: cut into what each
is asked, and the answers put together again."""

import dataclasses
from typing import Any, List, NamedTuple, Optional, Sequence

import grpc
import numpy as np

from gatherd import arrays
from gatherd import data_types
from gatherd import errors
from gatherd import rendezvous
from gatherd import requests
from gatherd import results


class Shape(NamedTuple):
    """What rows of a table look like."""

    dim: int
    data_type: str


def cut_keys(keys: Any, names: Sequence[str]) -> List[np.ndarray]:
    """The places of the keys that each server owns, in their order."""
    owner = rendezvous.owners(keys, names)
    order = np.argsort(owner, kind="stable")
    ends = np.searchsorted(owner[order], np.arange(1, len(names)))
    return np.split(order, ends)


def _asked(places: Sequence[np.ndarray]) -> List[bool]:
    """Who has keys; if nobody has, the first stands in for all."""
    asked = [part.size > 0 for part in places]
    if not any(asked):
        asked[0] = True
    return asked


class CutWrite:
    """A gatherd.Update or gatherd.Erase; requests has None for those who are
    not asked."""

    def __init__(self, write: Any, names: Sequence[str]):
        keys = arrays.keys_array(write.keys)
        places = cut_keys(keys, names)
        self.requests = [
            self._part(write, keys, part) if is_asked else None
            for part, is_asked in zip(places, _asked(places))]

    @staticmethod
    def _part(write: Any, keys: np.ndarray, places: np.ndarray) -> Any:
        part = {"keys": keys[places]}
        for name in ("values", "scales"):
            rows = getattr(write, name, None)
            if rows is None:
                continue
            rows = np.asarray(rows)
            if rows.shape[:1] != keys.shape:
                raise ValueError(f"{name} has shape {rows.shape} for "
                                 f"{keys.size} keys")
            part[name] = rows[places]
        return dataclasses.replace(write, **part)


class CutLookup:
    """A gatherd.Lookup; requests has None for those who are not asked."""

    def __init__(self, lookup: requests.Lookup, names: Sequence[str]):
        self._lookup = lookup
        self._keys = arrays.keys_array(lookup.keys)
        self._places = cut_keys(self._keys, names)
        self._is_pooled = requests.pooling_number(lookup.pooling) != 0
        if self._is_pooled:
            self._check_pooling()
        # The bags that have keys at each server.
        self._bags: List[np.ndarray] = []
        self.requests = [
            self._part(places) if is_asked else None
            for places, is_asked in zip(self._places, _asked(self._places))]

    def _check_pooling(self) -> None:
        if self._lookup.output_type not in (None, "float32"):
            raise ValueError(
                "pooled rows of several servers are added up as float32, "
                "which is the only output_type they have")
        self._offsets = arrays.offsets_array(
            () if self._lookup.offsets is None else self._lookup.offsets,
            self._keys.size)
        self._weights = np.ones(self._keys.size, np.float32)
        if self._lookup.weights is not None:
            self._weights = arrays.weights_array(self._lookup.weights,
                                                 self._keys.size)
        self._bag_of_key = np.searchsorted(
            self._offsets, np.arange(self._keys.size), side="right") - 1

    def _part(self, places: np.ndarray) -> requests.Lookup:
        part = {"keys": self._keys[places]}
        if self._is_pooled:
            bags = self._bag_of_key[places]
            starts = np.flatnonzero(np.diff(bags, prepend=-1))
            part.update(pooling="sum", offsets=starts, output_type="float32")
            if self._lookup.weights is not None:
                part["weights"] = self._weights[places]
        return dataclasses.replace(self._lookup, **part)

    def merge(self, answers: Sequence[Optional[results.TableRows]],
              known: Optional[Shape], lost: Sequence[str],
              ) -> results.TableRows:
        """Rows in the order of the lookup; answers has None for those who were
        not asked or are lost, whose keys then count as missing."""
        shape = self._shape_of(answers, known)
        missing = np.ones(self._keys.size, bool)
        for places, answer in zip(self._places, answers):
            if answer is not None:
                missing[places] = answer.missing
        rows, scales = (self._pool(answers, shape.dim), None) if (
            self._is_pooled) else self._scatter(answers, shape)
        return results.TableRows(
            rows=rows, missing=missing, scales=scales,
            data_type=shape.data_type, num_missing=int(missing.sum()),
            revision=0, lost_servers=tuple(lost))

    def _shape_of(self, answers: Sequence[Optional[results.TableRows]],
                  known: Optional[Shape]) -> Shape:
        shapes = {Shape(answer.rows.shape[1], answer.data_type)
                  for answer in answers if answer is not None}
        if len(shapes) > 1:
            raise errors.GatherdError(
                grpc.StatusCode.FAILED_PRECONDITION,
                f'table "{self._lookup.table}" is not the same on all '
                f"servers: {sorted(shapes)}")
        if shapes:
            return shapes.pop()
        if known is None:
            raise errors.GatherdError(
                grpc.StatusCode.UNAVAILABLE,
                f'table "{self._lookup.table}": its keys are on lost servers '
                "alone, and no earlier answer tells what its rows look like")
        if self._is_pooled:
            return Shape(known.dim, "float32")
        return Shape(known.dim, self._lookup.output_type or known.data_type)

    def _scatter(self, answers: Sequence[Optional[results.TableRows]],
                 shape: Shape) -> Any:
        data_type = data_types.BY_NAME[shape.data_type]
        rows = np.zeros((self._keys.size, shape.dim), data_type.dtype)
        scales = None
        if data_type is data_types.INT8:
            scales = np.zeros(self._keys.size, np.float32)
        for places, answer in zip(self._places, answers):
            if answer is None:
                continue
            rows[places] = answer.rows
            if scales is not None:
                scales[places] = answer.scales
        return rows, scales

    def _pool(self, answers: Sequence[Optional[results.TableRows]],
              dim: int) -> np.ndarray:
        sums = np.zeros((self._offsets.size, dim), np.float32)
        weights = np.zeros(self._offsets.size, np.float32)
        for places, answer in zip(self._places, answers):
            if answer is None or places.size == 0:
                continue
            bags = self._bag_of_key[places]
            sums[np.unique(bags)] += answer.rows
            np.add.at(weights, bags, self._weights[places])
        if self._lookup.pooling == "mean":
            has_weight = weights != 0
            sums[has_weight] /= weights[has_weight, None]
            sums[~has_weight] = 0
        return sums
