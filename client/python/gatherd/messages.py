"""The messages of gatherd.proto, with arrays as bytes.

A packed repeated field and a `bytes` field are the same on the wire, so these
twins let numpy fill and read keys, offsets and weights whole. They are made
here instead of by protoc, so that no generated code has to match the protobuf
that is installed, and live in a pool of their own, beside the generated classes
that a program may also use. Enums are their numbers.
"""

from typing import Any, Dict, List, Tuple, Union

from google.protobuf import descriptor_pb2
from google.protobuf import descriptor_pool
from google.protobuf import message_factory

_Field = descriptor_pb2.FieldDescriptorProto
_STRING, _BYTES = _Field.TYPE_STRING, _Field.TYPE_BYTES
_INT32, _UINT32 = _Field.TYPE_INT32, _Field.TYPE_UINT32
_UINT64 = _Field.TYPE_UINT64

# A type of a field; a list is of a repeated field, a text is the name of a
# message.
_Kind = Union[int, str, List[int], List[str]]
# Messages by name: their fields by name: number and type.
_Messages = Dict[str, Dict[str, Tuple[int, _Kind]]]

_GATHERD: _Messages = {
    "TableLookup": {
        "table": (1, _STRING),
        "keys": (2, _BYTES),  # int64, 8 bytes each
        "pooling": (3, _INT32),
        "offsets": (4, _BYTES),  # varints
        "weights": (5, _BYTES),  # float32
        "output_type": (6, _INT32),
        "missing_key_policy": (7, _INT32),
        "keys32": (8, _BYTES),  # uint32, 4 bytes each
    },
    "LookupRequest": {"lookups": (1, ["TableLookup"])},
    "TableRows": {
        "data_type": (1, _INT32),
        "dim": (2, _UINT32),
        "num_rows": (3, _UINT32),
        "values": (4, _BYTES),
        "missing": (5, _BYTES),
        "num_missing": (6, _UINT32),
        "revision": (7, _UINT64),
    },
    "LookupResponse": {"results": (1, ["TableRows"])},
    "TableUpdate": {
        "table": (1, _STRING),
        "keys": (2, _BYTES),
        "data_type": (3, _INT32),
        "values": (4, _BYTES),
        "mode": (5, _INT32),
        "keys32": (8, _BYTES),
    },
    "UpdateRequest": {"updates": (1, ["TableUpdate"])},
    "UpdateResult": {
        "num_updated": (1, _UINT32),
        "num_inserted": (2, _UINT32),
        "num_skipped": (3, _UINT32),
        "num_evicted": (4, _UINT32),
        "revision": (5, _UINT64),
    },
    "UpdateResponse": {"results": (1, ["UpdateResult"])},
    "TableErase": {
        "table": (1, _STRING),
        "keys": (2, _BYTES),
        "keys32": (8, _BYTES),
    },
    "EraseRequest": {"erases": (1, ["TableErase"])},
    "EraseResult": {"num_erased": (1, _UINT32), "revision": (2, _UINT64)},
    "EraseResponse": {"results": (1, ["EraseResult"])},
    "TierInfo": {
        "kind": (1, _STRING),
        "capacity_rows": (2, _UINT64),
        "num_rows": (3, _UINT64),
        "memory_bytes": (4, _UINT64),
        "rows_per_device": (5, [_UINT64]),
    },
    "TableInfo": {
        "name": (1, _STRING),
        "data_type": (2, _INT32),
        "dim": (3, _UINT32),
        "key_space": (4, _STRING),
        "num_rows": (5, _UINT64),
        "revision": (6, _UINT64),
        "tiers": (7, ["TierInfo"]),
    },
    "ListTablesRequest": {},
    "ListTablesResponse": {"tables": (1, ["TableInfo"])},
    "GetServerInfoRequest": {},
    "GetServerInfoResponse": {
        "version": (1, _STRING),
        "backend": (2, _STRING),
        "devices": (3, [_STRING]),
        "max_keys_per_request": (4, _UINT64),
        "max_message_bytes": (5, _UINT64),
    },
}

_HEALTH: _Messages = {
    "HealthCheckRequest": {"service": (1, _STRING)},
    "HealthCheckResponse": {"status": (1, _INT32)},
}


def _add_field(message: Any, package: str, name: str, number: int,
               kind: _Kind) -> None:
    field = message.field.add(name=name, number=number)
    field.label = _Field.LABEL_OPTIONAL
    if isinstance(kind, list):
        field.label = _Field.LABEL_REPEATED
        kind = kind[0]
    if isinstance(kind, str):
        field.type = _Field.TYPE_MESSAGE
        field.type_name = f".{package}.{kind}"
    else:
        field.type = kind


def _message_class(descriptor: Any) -> Any:
    if hasattr(message_factory, "GetMessageClass"):  # since protobuf 4.22
        return message_factory.GetMessageClass(descriptor)
    factory = message_factory.MessageFactory(descriptor.file.pool)
    return factory.GetPrototype(descriptor)


def _message_classes(package: str, messages: _Messages) -> List[Any]:
    """The classes of `messages`, in their order."""
    file = descriptor_pb2.FileDescriptorProto(
        name=f"{package.replace('.', '/')}.proto", package=package,
        syntax="proto3")
    for name, fields in messages.items():
        message = file.message_type.add(name=name)
        for field, (number, kind) in fields.items():
            _add_field(message, package, field, number, kind)
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(file.SerializeToString())
    return [
        _message_class(pool.FindMessageTypeByName(f"{package}.{name}"))
        for name in messages
    ]


(TableLookup, LookupRequest, TableRows, LookupResponse, TableUpdate,
 UpdateRequest, UpdateResult, UpdateResponse, TableErase, EraseRequest,
 EraseResult, EraseResponse, TierInfo, TableInfo, ListTablesRequest,
 ListTablesResponse, GetServerInfoRequest, GetServerInfoResponse,
 ) = _message_classes("gatherd.v1", _GATHERD)

HealthCheckRequest, HealthCheckResponse = _message_classes(
    "grpc.health.v1", _HEALTH)
