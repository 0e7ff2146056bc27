"""A client of gatherd, the server of embedding tables, for numpy arrays.

    import gatherd

    with gatherd.Client("localhost:7400", timeout=1.0) as client:
        rows, missing = client.lookup("words", keys)

docs/clients.md has the rest. Needs grpcio, numpy and protobuf; no generated
code.
"""

from gatherd.client import Client
from gatherd.errors import GatherdError
from gatherd.requests import Erase
from gatherd.requests import Lookup
from gatherd.requests import Update
from gatherd.results import EraseResult
from gatherd.results import ServerInfo
from gatherd.results import TableInfo
from gatherd.results import TableRows
from gatherd.results import TierInfo
from gatherd.results import UpdateResult
from gatherd.retry import Backoff
from gatherd.sharded_client import ShardedClient

__all__ = [
    "Backoff", "Client", "Erase", "EraseResult", "GatherdError", "Lookup",
    "ServerInfo", "ShardedClient", "TableInfo", "TableRows", "TierInfo", "Update",
    "UpdateResult",
]
