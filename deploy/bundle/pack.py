"""Packs programs, stripped, with the shared libraries that they load."""

import argparse
import gzip
import os
import pathlib
import re
import shutil
import subprocess
import tarfile
import tempfile

import system_python

# What a machine with glibc has, in the version that fits its kernel.
_GLIBC = re.compile(
    r"^(linux-vdso|ld-linux.*|lib(c|m|mvec|pthread|dl|rt|util|resolv|anl|nsl"
    r"|nss_.*|BrokenLocale|thread_db))\.so(\.|$)")

# One line of ldd: "libz.so.1 => /lib/x86_64-linux-gnu/libz.so.1 (0x...)".
_LIBRARY = re.compile(r"^\s*(\S+) => (not found|/\S+)", re.MULTILINE)


def libraries_of(program):
    """The libraries `program` loads, glibc's left out: name to path."""
    ldd = subprocess.run(["ldd", program], check=True, stdout=subprocess.PIPE,
                         text=True)
    libraries = {
        name: path
        for name, path in _LIBRARY.findall(ldd.stdout)
        if not _GLIBC.match(name)
    }
    missing = [name for name, path in libraries.items() if path == "not found"]
    if missing:
        raise SystemExit(f"{program} needs libraries that are not here: "
                         f"{', '.join(missing)}")
    return libraries


def _place(source, target, strip):
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.exists():
        raise SystemExit(f"{target.name} is given twice")
    shutil.copyfile(source, target)
    target.chmod(0o755 if strip or os.access(source, os.X_OK) else 0o644)
    if strip:
        subprocess.run(["strip", "--strip-unneeded", target], check=True)


def _without_origin(member):
    """Equal inputs make equal archives, whoever packs them and when."""
    member.mtime = 0
    member.uid = member.gid = 0
    member.uname = member.gname = "root"
    return member


def _write_archive(folder, output):
    with open(output, "wb") as raw, \
            gzip.GzipFile("", "wb", mtime=0, fileobj=raw) as zipped, \
            tarfile.open(fileobj=zipped, mode="w") as archive:
        for path in sorted(folder.rglob("*")):
            archive.add(path, arcname=path.relative_to(folder.parent),
                        recursive=False, filter=_without_origin)


def _python(folder, packages):
    """Places a Python with `packages`; the libraries that it needs."""
    interpreter = system_python.INTERPRETER
    _place(interpreter, folder / "bin" / pathlib.Path(interpreter).name,
           strip=True)
    libraries = libraries_of(interpreter)
    for name, source in system_python.files(packages).items():
        is_module = source.endswith(".so")
        _place(source, folder / name, strip=is_module)
        if is_module:
            libraries.update(libraries_of(source))
    return libraries


def _pairs(arguments):
    return dict(argument.split("=", maxsplit=1) for argument in arguments)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", required=True)
    parser.add_argument("--folder", required=True)
    parser.add_argument("--program", action="append", default=[],
                        metavar="TARGET=SOURCE")
    parser.add_argument("--file", action="append", default=[],
                        metavar="TARGET=SOURCE")
    parser.add_argument("--python_package", action="append", default=[],
                        metavar="PATH",
                        help="below dist-packages; brings Python with it")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch) / options.folder
        libraries = {}
        for target, source in _pairs(options.program).items():
            _place(source, folder / target, strip=True)
            libraries.update(libraries_of(source))
        if options.python_package:
            libraries.update(_python(folder / "python",
                                     options.python_package))
        for name, source in libraries.items():
            _place(source, folder / "lib" / name, strip=True)
        for target, source in _pairs(options.file).items():
            _place(source, folder / target, strip=False)
        _write_archive(folder, options.output)


if __name__ == "__main__":
    main()
