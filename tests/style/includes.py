"""Which part of the tree may include which, and what the parts must not see."""

import re

# A folder may include itself and the folders listed for it. Subfolders count as
# the folder above them.
ALLOWED = {
    "core/base": set(),
    "core/rows": {"core/base"},
    "core/npy": {"core/base"},
    "core/cuda": {"core/base"},
    "core/kernels": {"core/base"},
    "core/store": {"core/base"},
    "core/table": {"core/base", "core/rows", "core/cuda", "core/kernels"},
    "core/shard": {"core/base", "core/table"},
    "core/exec": {"core/base", "core/rows", "core/cuda", "core/table"},
    "core/gpu": {
        "core/base", "core/rows", "core/cuda", "core/kernels", "core/table",
        "core/shard", "core/exec",
    },
    "core/catalog": {
        "core/base", "core/rows", "core/table", "core/shard", "core/store",
        "core/exec", "core/npy",
    },
    "proto": set(),
    "cli": {"core/base"},
    "server": {
        "core/base", "core/table", "core/shard", "core/catalog", "core/exec",
        "core/gpu", "proto", "cli",
    },
    "client": {"core/base", "core/npy", "proto", "cli"},
    # What tests share may use the whole engine, not the programs.
    "testing": {
        "core/base", "core/rows", "core/cuda", "core/kernels", "core/store",
        "core/table", "core/shard", "core/exec", "core/gpu", "core/catalog",
        "proto", "cli",
    },
}

# The engine is a library: it speaks no protocol, exports no metrics and reads
# no files of options.
_NOT_IN_CORE = ("grpc", "google/protobuf/", "prometheus/", "yaml-cpp/",
                "spdlog/", "fmt/", "absl/flags/")

# nvcc meets none of these, not even through a header of ours.
_NOT_UNDER_NVCC = ("absl/", "grpc", "google/protobuf/", "proto/")

_INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)


def included(text):
    """The names in a source text's #include lines."""
    return _INCLUDE.findall(text)


def folder_of(path):
    """The part of the tree that a path belongs to; None if to no part."""
    parts = path.split("/")
    if parts[0] == "core" and len(parts) > 2:
        return "/".join(parts[:2])
    return parts[0] if len(parts) > 1 and parts[0] in ALLOWED else None


def _is_for_nvcc(path):
    return path.endswith((".cu", ".cuh")) or path.startswith("core/kernels/")


def _edge_violations(path, names):
    folder = folder_of(path)
    if folder is None:  # tests include what they test
        return
    if folder not in ALLOWED:
        yield f"{path}: {folder} is not a part that this test knows"
        return
    for name in names:
        target = folder_of(name)
        if name.startswith(("core/", "server/", "client/", "tests/")):
            target = target or name.split("/", maxsplit=1)[0]
        if target not in ALLOWED[folder] | {folder, None}:
            yield f"{path}: {folder} must not include {name}"
        if folder.startswith("core/") and name.startswith(_NOT_IN_CORE):
            yield f"{path}: the engine must not include {name}"


def _nvcc_violations(path, includes):
    seen = set()
    waiting = [path]
    while waiting:
        current = waiting.pop()
        if current in seen:
            continue
        seen.add(current)
        for name in includes.get(current, ()):
            if name.startswith(_NOT_UNDER_NVCC):
                yield f"{path}: nvcc must not see {name}, included by {current}"
            waiting.append(name)


def violations(includes):
    """What is wrong with a tree, one line a fault.

    Args:
      includes: the names that each file includes, by the file's path from the
        root.
    """
    found = []
    for path in sorted(includes):
        found.extend(_edge_violations(path, includes[path]))
        if _is_for_nvcc(path):
            found.extend(_nvcc_violations(path, includes))
    return found
