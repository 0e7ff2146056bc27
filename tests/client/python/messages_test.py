"""The client's messages are those of the .proto files, arrays being bytes."""

import unittest

from google.protobuf.descriptor import FieldDescriptor as Field

from gatherd import messages
from proto.gatherd.v1 import gatherd_pb2
from proto.grpc.health.v1 import health_pb2

ARRAYS = {
    ("TableLookup", "keys"), ("TableLookup", "offsets"),
    ("TableLookup", "weights"), ("TableUpdate", "keys"), ("TableErase", "keys"),
    ("TableLookup", "keys32"), ("TableUpdate", "keys32"),
    ("TableErase", "keys32"),
}


def signature(field):
    """(number, label, type, name of the message)"""
    kind, label = field.type, field.label
    if kind == Field.TYPE_ENUM:
        kind = Field.TYPE_INT32
    if (field.containing_type.name, field.name) in ARRAYS:
        assert field.label == Field.LABEL_REPEATED or kind == Field.TYPE_BYTES
        kind, label = Field.TYPE_BYTES, Field.LABEL_OPTIONAL
    message = field.message_type.full_name if field.message_type else None
    return field.number, label, kind, message


def fields_of(descriptor):
    return {field.name: signature(field) for field in descriptor.fields}


class MessagesTest(unittest.TestCase):

    def assert_twin(self, descriptor):
        twin = getattr(messages, descriptor.name).DESCRIPTOR
        self.assertEqual(descriptor.full_name, twin.full_name)
        self.assertEqual(fields_of(descriptor), fields_of(twin))

    def test_every_message_of_the_api(self):
        found = gatherd_pb2.DESCRIPTOR.message_types_by_name
        self.assertGreater(len(found), 15)
        for name, descriptor in found.items():
            with self.subTest(name):
                self.assert_twin(descriptor)

    def test_health(self):
        self.assert_twin(health_pb2.HealthCheckRequest.DESCRIPTOR)
        self.assert_twin(health_pb2.HealthCheckResponse.DESCRIPTOR)

    def test_arrays_are_what_may_be_bytes(self):
        """Packed, and of elements that numpy has."""
        for message, name in ARRAYS:
            field = gatherd_pb2.DESCRIPTOR.message_types_by_name[
                message].fields_by_name[name]
            kind = {"keys": Field.TYPE_SFIXED64,
                    "keys32": Field.TYPE_FIXED32, "offsets": Field.TYPE_UINT32,
                    "weights": Field.TYPE_FLOAT}[name]
            self.assertEqual((Field.LABEL_REPEATED, kind),
                             (field.label, field.type))
