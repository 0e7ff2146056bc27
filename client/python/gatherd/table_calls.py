"""Calls about one table, made of those about several."""

import abc
from typing import Any, Iterable, List, Optional, TypeVar

import numpy.typing as npt

from gatherd import requests
from gatherd import results

_Self = TypeVar("_Self", bound="TableCalls")


class TableCalls(abc.ABC):
    """What all clients have in common. A `with` statement closes a client."""

    def __enter__(self: _Self) -> _Self:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    @abc.abstractmethod
    def close(self) -> None:
        """Ends the connections; calls in flight end with CANCELLED."""

    def lookup(self, table: str, keys: npt.ArrayLike, *,
               pooling: str = "none",
               offsets: Optional[npt.ArrayLike] = None,
               weights: Optional[npt.ArrayLike] = None,
               output_type: Optional[str] = None,
               missing_key_policy: Optional[str] = None,
               timeout: Optional[float] = None,
               max_attempts: Optional[int] = None) -> results.TableRows:
        """Rows, or pooled rows, of one table; see Lookup and TableRows."""
        return self.lookup_many(
            [requests.Lookup(table, keys, pooling, offsets, weights,
                             output_type, missing_key_policy)],
            timeout=timeout, max_attempts=max_attempts)[0]

    @abc.abstractmethod
    def lookup_many(self, lookups: Iterable[requests.Lookup], *,
                    timeout: Optional[float] = None,
                    max_attempts: Optional[int] = None,
                    ) -> List[results.TableRows]:
        """One or several tables in one call; answers come in their order."""

    def update(self, table: str, keys: npt.ArrayLike, values: npt.ArrayLike, *,
               mode: str = "set",
               data_type: Optional[str] = None,
               scales: Optional[npt.ArrayLike] = None,
               timeout: Optional[float] = None,
               max_attempts: Optional[int] = None) -> results.UpdateResult:
        """Writes rows of one table; see Update."""
        return self.update_many(
            [requests.Update(table, keys, values, mode, data_type, scales)],
            timeout=timeout, max_attempts=max_attempts)[0]

    @abc.abstractmethod
    def update_many(self, updates: Iterable[requests.Update], *,
                    timeout: Optional[float] = None,
                    max_attempts: Optional[int] = None,
                    ) -> List[results.UpdateResult]:
        """One or several writes in one call."""

    def erase(self, table: str, keys: npt.ArrayLike, *,
              timeout: Optional[float] = None,
              max_attempts: Optional[int] = None) -> results.EraseResult:
        """Removes rows of one table; in a dense one the default row returns."""
        return self.erase_many([requests.Erase(table, keys)], timeout=timeout,
                               max_attempts=max_attempts)[0]

    @abc.abstractmethod
    def erase_many(self, erases: Iterable[requests.Erase], *,
                   timeout: Optional[float] = None,
                   max_attempts: Optional[int] = None,
                   ) -> List[results.EraseResult]:
        """One or several erases in one call."""
