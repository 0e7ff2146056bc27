"""The code in documents, and whether programs have it."""

import re
import textwrap


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def blocks(document, language):
    """The texts of a document's fenced blocks."""
    found = re.findall(r"^```(\S*)\n(.*?)^```$", read(document),
                       re.DOTALL | re.MULTILINE)
    return [text for name, text in found if name == language]


def has_lines(program, block):
    """Whether the lines stand in a program together, however far in."""
    lines = program.splitlines()
    wanted = block.splitlines()
    return any(
        textwrap.dedent("\n".join(lines[i:i + len(wanted)])).splitlines()
        == wanted for i in range(len(lines)))
