"""Where and of what a benchmark's figures are."""

import datetime
import os
import pathlib
import platform
import shutil
import subprocess
import sys


def busy():
    """A warning if others use this machine, else nothing."""
    load = os.getloadavg()[0]
    if load <= 0.5:
        return ""
    return (f"this machine is busy (load {load:.1f}): the figures will say "
            "more about that than about what is measured")


def _model():
    for line in open("/proc/cpuinfo", encoding="utf-8"):
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def _commit(root):
    """Of a checkout; a bundle has none."""
    if shutil.which("git") is None or not (root / ".git").exists():
        return "unknown"
    return subprocess.run(
        ["git", "-C", root, "describe", "--always", "--dirty"],
        capture_output=True, text=True, check=False).stdout.strip()


def heading():
    """One line: machine, day, commit and the command."""
    root = pathlib.Path(__file__).resolve().parents[2]
    command = " ".join([
        str(pathlib.Path(sys.argv[0]).resolve().relative_to(root)),
        *sys.argv[1:]])
    return (f"{_model()}, {len(os.sched_getaffinity(0))} cores; "
            f"{datetime.date.today()}; commit {_commit(root)}; {command}")
