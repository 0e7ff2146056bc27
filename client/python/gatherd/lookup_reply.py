"""The reply to a lookup, its rows left where they are.

protobuf would copy the rows twice, into the message and out of it, to memory
that most processes get from the kernel each time: half of what a reply of a
mebibyte costs. So they are cut out first, and the rest, a few bytes, is left
to protobuf.
"""

from typing import Any, Iterator, List, Tuple

from google.protobuf import message as protobuf

from gatherd import errors
from gatherd import messages

_RESULTS = messages.LookupResponse.DESCRIPTOR.fields_by_name["results"].number
_VALUES = messages.TableRows.DESCRIPTOR.fields_by_name["values"].number

# https://protobuf.dev/programming-guides/encoding
_VARINT, _FIXED64, _DELIMITED, _FIXED32 = 0, 1, 2, 5
_MAX_VARINT_BYTES = 10
_MAX_FIELD = 2**29 - 1


def _varint(data: memoryview, at: int) -> Tuple[int, int]:
    """The number there, and where it ends."""
    value = 0
    for i in range(_MAX_VARINT_BYTES):
        byte = data[at + i]
        value |= (byte & 0x7F) << 7 * i
        if byte < 0x80:
            return value, at + i + 1
    raise errors.internal(f"a number of over {_MAX_VARINT_BYTES} bytes")


def _fields(data: memoryview) -> Iterator[Tuple[int, int, int, int, int]]:
    """(number, wire type, where it, its content and the next one start)"""
    at = 0
    while at < len(data):
        begin = at
        tag, at = _varint(data, at)
        number, wire_type, content = tag >> 3, tag & 7, at
        if not 1 <= number <= _MAX_FIELD:
            raise errors.internal(f"a field of number {number}")
        if wire_type == _VARINT:
            _, at = _varint(data, at)
        elif wire_type == _FIXED64:
            at += 8
        elif wire_type == _DELIMITED:
            size, content = _varint(data, at)
            at = content + size
        elif wire_type == _FIXED32:
            at += 4
        else:  # groups, which no proto3 message has
            raise errors.internal(f"a field of wire type {wire_type}")
        if at > len(data):
            raise errors.internal("a field ends behind its message")
        yield number, wire_type, begin, content, at


def _table_rows(data: memoryview) -> Tuple[Any, memoryview]:
    values, rest, kept = data[:0], [], 0
    for number, wire_type, begin, content, end in _fields(data):
        if number == _VALUES and wire_type == _DELIMITED:
            values = data[content:end]
            rest.append(data[kept:begin])
            kept = end
    rest.append(data[kept:])
    return messages.TableRows.FromString(b"".join(rest)), values


def read(reply: bytes) -> List[Tuple[Any, memoryview]]:
    """Each of the results without its values, and these, a view of `reply`.

    GatherdError, INTERNAL, if it is no LookupResponse.
    """
    data = memoryview(reply)
    try:
        return [
            _table_rows(data[content:end])
            for number, wire_type, _, content, end in _fields(data)
            if number == _RESULTS and wire_type == _DELIMITED
        ]
    except IndexError as error:
        raise errors.internal("ends within a number") from error
    except protobuf.DecodeError as error:
        raise errors.internal(str(error)) from error
