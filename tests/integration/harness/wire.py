"""Protobuf bytes put together by hand, legal and not."""

import struct

VARINT, FIXED64, LENGTH, GROUP, END_GROUP, FIXED32 = range(6)


def varint(value):
    value &= 2 ** 64 - 1
    encoded = bytearray()
    while value >= 128:
        encoded.append(value & 127 | 128)
        value >>= 7
    return bytes(encoded) + bytes([value])


def tag(field, wire_type):
    return varint(field << 3 | wire_type)


def length_field(field, body):
    return tag(field, LENGTH) + varint(len(body)) + body


def varint_field(field, value):
    return tag(field, VARINT) + varint(value)


def fixed64_field(field, value):
    return tag(field, FIXED64) + struct.pack("<q", value)


def fixed32_field(field, value):
    return tag(field, FIXED32) + struct.pack("<f", value)


def packed_keys(field, keys):
    return length_field(field, struct.pack(f"<{len(keys)}q", *keys))


# What no message of the API accepts ...
NO_MESSAGES = {
    "text": b"GET / HTTP/1.1\r\n\r\n",
    "tag alone": b"\x0a",
    "length beyond the end": b"\x0a\x7f\x01",
    "huge length": b"\x0a" + varint(2 ** 63),
    "varint without end": b"\x08" + b"\xff" * 11,
    "field number zero": b"\x00\x01",
    "end of no group": tag(7, END_GROUP),
    "group without end": tag(7, GROUP) + varint_field(1, 1),
    "wire type 6": bytes([15 << 3 | 6]),
    "wire type 7": bytes([15 << 3 | 7]),
    "fixed64 cut short": tag(9, FIXED64) + b"\0\0\0",
    "zeros": bytes(64),
    "ones": b"\xff" * 64,
}

# ... and the same for the parts inside Lookup, Update and Erase requests.
NO_PARTS = {
    "keys of 7 bytes": length_field(1, b"words") + length_field(2, bytes(7)),
    "keys cut short": length_field(1, b"words") + tag(2, LENGTH) + b"\x08\0",
    "name cut short": tag(1, LENGTH) + b"\x20words",
    "group without end": length_field(1, b"words") + tag(15, GROUP),
    "field number zero": length_field(1, b"words") + b"\x02\x00",
}

# Fields that later versions of the API may send: to be skipped.
UNKNOWN_FIELDS = (
    varint_field(1000, 2 ** 64 - 1),
    fixed64_field(1001, -1),
    length_field(1002, b"\xff\xfe\x00"),
    fixed32_field(1003, 1.0),
    tag(1004, GROUP) + varint_field(1, 1) + length_field(2, b"x")
    + tag(1004, END_GROUP),
    varint_field(2 ** 29 - 1, 0),
)
