"""The files of the source tree, found from inside a test.

A test sees the real tree rather than copies in its runfiles, so that files that
no BUILD file names are checked too; such tests carry the tag `external`, which
keeps Bazel from reusing their results.
"""

import os
import pathlib

_IGNORED = {".git", "node_modules", "__pycache__", "shared"}

CPP = (".h", ".cc", ".cu", ".cuh")


def root():
    """The folder of WORKSPACE, which the test names as data."""
    return pathlib.Path("WORKSPACE").resolve().parent


def files(suffixes=(), names=()):
    """Paths, relative to the root, with one of the suffixes or names."""
    found = []
    for folder, subfolders, filenames in os.walk(root()):
        relative = pathlib.Path(folder).relative_to(root())
        subfolders[:] = sorted(
            name for name in subfolders
            if name not in _IGNORED and not name.startswith("bazel-"))
        for name in sorted(filenames):
            if name.endswith(tuple(suffixes)) or name in names:
                found.append(relative / name)
    return found


def read(path):
    return (root() / path).read_text(encoding="utf-8")
