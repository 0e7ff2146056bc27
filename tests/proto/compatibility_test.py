"""Names, numbers and types on the wire never change; there may be more.

names.txt lists what clients already rely on. Add a line when the API grows;
never change one.
"""

import unittest

from google.protobuf import descriptor_pb2

from proto.gatherd.v1 import gatherd_pb2

NAMES = "tests/proto/names.txt"


def type_of(field):
    repeated = "repeated " if field.label == field.LABEL_REPEATED else ""
    name = field.type_name.rpartition(".")[2] or (
        field.Type.Name(field.type)[len("TYPE_"):].lower())
    return repeated + name


def signature(method):
    asked, answered = (
        ("stream " if streams else "") + name.rpartition(".")[2]
        for streams, name in (
            (method.client_streaming, method.input_type),
            (method.server_streaming, method.output_type)))
    return f"({asked}) returns ({answered})"


def describe(descriptor):
    """One line for every field, enum value and method of a file."""
    file = descriptor_pb2.FileDescriptorProto()
    descriptor.CopyToProto(file)
    lines = [f"package {file.package}"]
    for message in file.message_type:
        lines += [f"{message.name}.{field.name} = {field.number}: "
                  f"{type_of(field)}" for field in message.field]
    for enum in file.enum_type:
        lines += [f"{enum.name}.{value.name} = {value.number}"
                  for value in enum.value]
    for service in file.service:
        lines += [f"{service.name}.{method.name}{signature(method)}"
                  for method in service.method]
    return lines


class CompatibilityTest(unittest.TestCase):

    def test_nothing_has_changed(self):
        now = describe(gatherd_pb2.DESCRIPTOR)
        with open(NAMES, encoding="utf-8") as file:
            for line in file.read().splitlines():
                with self.subTest(line=line):
                    self.assertIn(line, now)
