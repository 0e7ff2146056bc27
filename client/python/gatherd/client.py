"""The client: typed calls over one connection."""

import threading
from typing import Any, Iterable, List, Optional, Sequence

import grpc
from google.protobuf import message as protobuf

from gatherd import channel as channels
from gatherd import connections
from gatherd import errors
from gatherd import lookup_reply
from gatherd import messages
from gatherd import requests
from gatherd import results
from gatherd import retry
from gatherd import table_calls

_HEALTH_NAMES = {1: "SERVING", 2: "NOT_SERVING"}


def _check_num_results(found: Sequence[Any], num_asked: int) -> None:
    if len(found) != num_asked:
        raise errors.internal(
            f"has {len(found)} results for {num_asked} requests")


class Client(table_calls.TableCalls):
    """Lookups, updates and erases with numpy arrays.

        with gatherd.Client("localhost:7400") as client:
            rows, missing = client.lookup("words", [17, 42])

    Thread-safe; make one and share it, one in each process: like every gRPC
    client it does not survive a fork. Calls block, without holding Python's
    lock. Every call has a deadline.

    A call that ends with UNAVAILABLE is repeated, after a jittered and growing
    wait, until it succeeds, `max_attempts` are used up or the deadline leaves
    no room. No other code is retried, and an update that has an "add" in it is
    never repeated: the server may have applied it before the connection broke.

    A call that fails raises GatherdError; wrong arguments raise TypeError or
    ValueError before anything is sent. Each method takes `timeout` (seconds
    over all attempts and the waits between them) and `max_attempts`, to be
    used instead of the client's own.
    """

    def __init__(self, address: str = "localhost:7400", *,
                 token: Optional[str] = None,
                 root_certificates: channels.Pem = None,
                 certificate: channels.Pem = None,
                 private_key: channels.Pem = None,
                 server_name: Optional[str] = None,
                 tls: bool = False,
                 timeout: float = 10.0,
                 max_attempts: int = 5,
                 backoff: retry.Backoff = retry.Backoff()):
        """Does not wait for the connection: a server that is not there is the
        first call's UNAVAILABLE.

        Args:
          address: HOST:PORT, unix:/path, or any other name that gRPC resolves:
            one server. IP:PORT,IP:PORT,... or dns:///NAME:PORT: servers that
            have the same tables, asked in turn; one that ends, refuses
            connections or says by its health service that it does not serve,
            as a server does once it drains, is left out until it serves again.
          token: sent as `authorization: Bearer TOKEN`. Without TLS it travels
            in the clear.
          root_certificates: PEM text of who signs the server's certificate;
            switches TLS on.
          certificate: PEM text of ours, if the server wants one; with
            private_key.
          server_name: that the server's certificate must have; None: the
            address's.
          tls: TLS with the roots that gRPC knows, if root_certificates is
            None.
          timeout: seconds, of calls that do not bring their own.
          max_attempts: 1: never retry.
        """
        self._timeout_s = retry.check_timeout(timeout)
        self._max_attempts = retry.check_max_attempts(max_attempts)
        self._backoff = backoff
        self._closed = threading.Event()
        self._metadata = channels.metadata_of(token)
        self._channel = channels.open_channel(
            address, root_certificates, certificate, private_key, server_name,
            tls)
        self._reader = connections.Reader(self._channel)
        # Requests and replies stay bytes, so that a repeated attempt encodes
        # nothing twice.
        self._methods = {
            path: self._channel.unary_unary(path)
            for path in (
                "/gatherd.v1.EmbeddingService/Lookup",
                "/gatherd.v1.EmbeddingService/Update",
                "/gatherd.v1.EmbeddingService/Erase",
                "/gatherd.v1.TableService/ListTables",
                "/gatherd.v1.TableService/GetServerInfo",
                "/grpc.health.v1.Health/Check",
            )
        }

    def close(self) -> None:
        """Ends the connection; calls in flight end with CANCELLED."""
        self._closed.set()
        self._channel.close()

    def lookup_many(self, lookups: Iterable[requests.Lookup], *,
                    timeout: Optional[float] = None,
                    max_attempts: Optional[int] = None,
                    ) -> List[results.TableRows]:
        """One or several tables in one call; answers come in their order."""
        request = messages.LookupRequest()
        shapes = [requests.fill_lookup(lookup, request.lookups.add())
                  for lookup in lookups]
        answers = lookup_reply.read(self._reply(
            "/gatherd.v1.EmbeddingService/Lookup", request, timeout,
            max_attempts))
        _check_num_results(answers, len(shapes))
        return [results.table_rows(message, values, shape.num_keys,
                                   shape.num_rows)
                for (message, values), shape in zip(answers, shapes)]

    def update_many(self, updates: Iterable[requests.Update], *,
                    timeout: Optional[float] = None,
                    max_attempts: Optional[int] = None,
                    ) -> List[results.UpdateResult]:
        """One or several writes in one call, all or none of them.

        After a failure that is no refusal (UNAVAILABLE, DEADLINE_EXCEEDED,
        CANCELLED, INTERNAL) they may have happened, in whole or in part.
        """
        updates = list(updates)
        request = messages.UpdateRequest()
        for update in updates:
            requests.fill_update(update, request.updates.add())
        if any(update.mode == "add" for update in updates):
            max_attempts = 1
        response = self._call(
            "/gatherd.v1.EmbeddingService/Update", request,
            messages.UpdateResponse, timeout, max_attempts)
        _check_num_results(response.results, len(updates))
        return [results.update_result(result) for result in response.results]

    def erase_many(self, erases: Iterable[requests.Erase], *,
                   timeout: Optional[float] = None,
                   max_attempts: Optional[int] = None,
                   ) -> List[results.EraseResult]:
        """One or several erases in one call."""
        request = messages.EraseRequest()
        for erase in erases:
            requests.fill_erase(erase, request.erases.add())
        response = self._call(
            "/gatherd.v1.EmbeddingService/Erase", request,
            messages.EraseResponse, timeout, max_attempts)
        _check_num_results(response.results, len(request.erases))
        return [results.erase_result(result) for result in response.results]

    def tables(self, *, timeout: Optional[float] = None,
               max_attempts: Optional[int] = None) -> List[results.TableInfo]:
        """Every table of the server."""
        response = self._call(
            "/gatherd.v1.TableService/ListTables",
            messages.ListTablesRequest(), messages.ListTablesResponse,
            timeout, max_attempts)
        return [results.table_info(table) for table in response.tables]

    def info(self, *, timeout: Optional[float] = None,
             max_attempts: Optional[int] = None) -> results.ServerInfo:
        """Version, backend, devices and limits of the server."""
        response = self._call(
            "/gatherd.v1.TableService/GetServerInfo",
            messages.GetServerInfoRequest(), messages.GetServerInfoResponse,
            timeout, max_attempts)
        return results.server_info(response)

    def health(self, *, timeout: Optional[float] = None) -> str:
        """"SERVING", "NOT_SERVING" or "UNKNOWN": what the server says of
        itself as a whole. Not retried: that it does not answer is an answer.
        """
        response = self._call(
            "/grpc.health.v1.Health/Check", messages.HealthCheckRequest(),
            messages.HealthCheckResponse, timeout, 1)
        return _HEALTH_NAMES.get(response.status, "UNKNOWN")

    def _call(self, path: str, request: Any, response_class: Any,
              timeout: Optional[float], max_attempts: Optional[int]) -> Any:
        """The response to `request`, after as many attempts as it takes."""
        reply = self._reply(path, request, timeout, max_attempts)
        try:
            return response_class.FromString(reply)
        except protobuf.DecodeError as error:
            raise errors.internal(str(error)) from error

    def _reply(self, path: str, request: Any, timeout: Optional[float],
               max_attempts: Optional[int]) -> bytes:
        """The bytes of the response to `request`."""
        if timeout is None:
            timeout = self._timeout_s
        if max_attempts is None:
            max_attempts = self._max_attempts
        method, encoded = self._methods[path], request.SerializeToString()

        def attempt(left_s: float) -> bytes:
            try:
                return method(encoded, timeout=left_s, metadata=self._metadata)
            except grpc.RpcError as error:
                if (error.code() == grpc.StatusCode.UNAVAILABLE
                        and not self._closed.is_set()):
                    self._reader.watch_until_ready()
                raise
        if max_attempts == 1 and not self._closed.is_set():
            self._reader.read_if_idle()
            if self._closed.is_set():
                raise errors.GatherdError(grpc.StatusCode.CANCELLED,
                                          "the client was closed")
        try:
            return retry.call(
                attempt, retry.check_timeout(timeout),
                retry.check_max_attempts(max_attempts), self._backoff,
                self._closed)
        finally:
            self._reader.note_call()
