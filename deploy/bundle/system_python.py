"""Which files of this system's Python make one that runs elsewhere."""

import pathlib

VERSION = "3.11"  # Debian 12's
INTERPRETER = f"/usr/bin/python{VERSION}"

_STANDARD = pathlib.Path(f"/usr/lib/python{VERSION}")
_PACKAGES = pathlib.Path("/usr/lib/python3/dist-packages")

# Folders and files that no program needs to run.
_LEFT_OUT = {
    "__pycache__", "config-3.11-x86_64-linux-gnu", "distutils", "ensurepip",
    "f2py", "idlelib", "lib2to3", "pydoc_data", "sitecustomize.py", "test",
    "tests", "tkinter", "turtledemo",
}
_TEST_MODULES = ("_test", "_ctypes_test", "_xxtest", "xxlimited")
_SUFFIXES = (".py", ".so")


def _modules(folder):
    for path in sorted(folder.iterdir()):
        if path.name in _LEFT_OUT:
            continue
        if path.is_dir():
            yield from _modules(path)
        elif path.suffix in _SUFFIXES and not path.name.startswith(
                _TEST_MODULES):
            yield path


def files(packages):
    """The files of the standard library and of `packages`, which are paths
    below dist-packages: their place below the interpreter's home, and where
    they are. What sets the interpreter itself up is not among them."""
    found = {}
    for path in _modules(_STANDARD):
        target = f"lib/python{VERSION}/{path.relative_to(_STANDARD)}"
        found[target] = str(path)
    for package in packages:
        source = _PACKAGES / package
        if not source.exists():
            raise SystemExit(f"{source} is not here: tools/install")
        for path in [source] if source.is_file() else _modules(source):
            target = f"lib/python3/dist-packages/{path.relative_to(_PACKAGES)}"
            found[target] = str(path)
    return found
