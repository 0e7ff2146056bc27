"""A client of tables whose rows are spread over several servers by key."""

from concurrent import futures
import time
from typing import Any, Callable, Dict, Iterable, List, Optional, Sequence

import grpc

from gatherd import client as clients
from gatherd import errors
from gatherd import requests
from gatherd import results
from gatherd import retry
from gatherd import sharding
from gatherd import table_calls

# Of calls to one server at the same time, from all threads; more wait, as long
# as their deadlines allow.
_CALLS_PER_SERVER = 16

_LOST = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED)


def _raise_named(name: str, error: errors.GatherdError) -> None:
    raise errors.GatherdError(
        error.code, f"server {name}: {error.message}") from error


def _call(ask: Callable[..., Any], client: clients.Client, part: List[Any],
          deadline_s: float, options: Dict[str, Any]) -> Any:
    left_s = deadline_s - time.monotonic()
    if left_s <= 0:
        raise errors.GatherdError(
            grpc.StatusCode.DEADLINE_EXCEEDED,
            f"{_CALLS_PER_SERVER} calls before this one have had no answer")
    return ask(client, part, **{**options, "timeout": left_s})


def _sum(parts: Sequence[Any], kind: Any) -> Any:
    """Counts of several servers; their revisions have nothing in common."""
    names = [name for name in kind.__dataclass_fields__ if name != "revision"]
    return kind(revision=0, **{
        name: sum(getattr(part, name) for part in parts) for name in names})


class ShardedClient(table_calls.TableCalls):
    """Client's calls, over several servers: keys go to their owners, all of
    which are asked at once, and rows come back in the order asked for.

        with gatherd.ShardedClient(["words-0.words:7400",
                                    "words-1.words:7400"]) as client:
            rows, missing = client.lookup("words", keys)

    Every server has a table of the same name, dim and data_type;
    gatherd.rendezvous says who owns a key.

    What differs from one server: a write that one server refuses may have been
    done by others; pooled rows are float32, sums of what the servers add up;
    revisions are 0. Thread-safe.
    """

    def __init__(self, servers: Sequence[str], *, lost_keys: str = "fail",
                 timeout: float = 10.0, **options: Any):
        """Servers need not be there.

        Args:
          servers: HOST:PORT of each. Rows are spread by these very texts: give
            names that last, and the same to all clients, in any order.
          lost_keys: what becomes of keys whose owner is UNAVAILABLE or does not
            answer in time. "fail": the call fails. "missing": in lookups they
            are missing, with rows of zeros, and left out of bags.
          timeout: seconds, of calls that do not bring their own.
          options: of every connection, as Client has them.
        """
        self._names = list(servers)
        if not self._names:
            raise ValueError("servers is empty")
        if len(set(self._names)) != len(self._names):
            raise ValueError("servers has a name twice")
        if lost_keys not in ("fail", "missing"):
            raise ValueError(f"lost_keys is {lost_keys!r}; allowed are "
                             "'fail' and 'missing'")
        self._keeps_lost = lost_keys == "missing"
        self._is_closed = False
        self._shapes: Dict[str, sharding.Shape] = {}
        self._timeout_s = timeout
        self._clients = [clients.Client(name, timeout=timeout, **options)
                         for name in self._names]
        # One for each server: one that hangs takes no threads of others.
        self._pools = [futures.ThreadPoolExecutor(
            _CALLS_PER_SERVER, thread_name_prefix="gatherd")
                       for _ in self._names]

    def close(self) -> None:
        """Ends the connections; calls in flight end with CANCELLED."""
        self._is_closed = True
        for client in self._clients:
            client.close()
        for pool in self._pools:
            pool.shutdown()

    def lookup_many(self, lookups: Iterable[requests.Lookup],
                    **call: Any) -> List[results.TableRows]:
        """One or several tables in one call; answers come in their order."""
        lookups = list(lookups)
        cuts = [sharding.CutLookup(lookup, self._names) for lookup in lookups]
        lost: List[str] = []
        answers = self._ask(
            cuts, clients.Client.lookup_many, call,
            lost if self._keeps_lost else None)
        for lookup, found in zip(lookups, answers):
            self._learn(lookup, found)
        return [cut.merge(found, self._shapes.get(lookup.table), lost)
                for lookup, cut, found in zip(lookups, cuts, answers)]

    def update_many(self, updates: Iterable[requests.Update],
                    **call: Any) -> List[results.UpdateResult]:
        """One or several writes, all or none of them at each server."""
        cuts = [sharding.CutWrite(update, self._names) for update in updates]
        answers = self._ask(cuts, clients.Client.update_many, call)
        return [_sum([part for part in parts if part is not None],
                     results.UpdateResult) for parts in answers]

    def erase_many(self, erases: Iterable[requests.Erase],
                   **call: Any) -> List[results.EraseResult]:
        """One or several erases."""
        cuts = [sharding.CutWrite(erase, self._names) for erase in erases]
        answers = self._ask(cuts, clients.Client.erase_many, call)
        return [_sum([part for part in parts if part is not None],
                     results.EraseResult) for parts in answers]

    def _ask(self, cuts: Sequence[Any], ask: Callable[..., Any],
             options: Dict[str, Any],
             lost: Optional[List[str]] = None) -> List[List[Any]]:
        """For each cut what each server answers, None if it was not asked.

        `ask` is a method of Client, which takes `options`.

        Servers that do not answer are added to `lost`; if that is None, they
        fail the call as any other failure does.
        """
        timeout_s = options.get("timeout")
        if timeout_s is None:
            timeout_s = self._timeout_s
        deadline_s = time.monotonic() + retry.check_timeout(timeout_s)
        calls = []
        for i, client in enumerate(self._clients):
            asked = [c for c, cut in enumerate(cuts)
                     if cut.requests[i] is not None]
            if asked:
                part = [cuts[c].requests[i] for c in asked]
                calls.append((i, asked, self._submit(
                    self._pools[i], ask, client, part, deadline_s, options)))
        futures.wait([future for _, _, future in calls])
        answers: List[List[Any]] = [[None] * len(self._clients) for _ in cuts]
        for i, asked, future in calls:
            try:
                for c, answer in zip(asked, future.result()):
                    answers[c][i] = answer
            except errors.GatherdError as error:
                if lost is None or error.code not in _LOST:
                    _raise_named(self._names[i], error)
                lost.append(self._names[i])
        return answers

    def _submit(self, pool: futures.ThreadPoolExecutor, *call: Any) -> Any:
        try:
            return pool.submit(_call, *call)
        except RuntimeError as error:
            if not self._is_closed:
                raise
            raise ValueError("the client is closed") from error

    def _learn(self, lookup: requests.Lookup,
               answers: Sequence[Optional[results.TableRows]]) -> None:
        """Keeps what the table's own rows look like."""
        if lookup.output_type is not None or lookup.pooling != "none":
            return
        for answer in answers:
            if answer is not None:
                self._shapes[lookup.table] = sharding.Shape(
                    answer.rows.shape[1], answer.data_type)
                return
