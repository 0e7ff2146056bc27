"""The programs of examples/several_servers, run beside a test."""

import pathlib
import re
import shutil
import subprocess

from tests.integration.harness.process import find_program

_FOLDER = "examples/several_servers"
_END_TIMEOUT_S = 30


def _java_classes():
    """gRPC for Java with all that it needs; empty if any of it is not here."""
    folder = pathlib.Path("/usr/share/java")
    found = []
    for pattern in ("grpc-api", "grpc-context", "grpc-core", "grpc-netty",
                    "grpc-stub", "gson", "guava", "netty-*", "perfmark-*"):
        jars = sorted(map(str, folder.glob(f"{pattern}.jar")))
        if not jars:
            return []
        found += jars
    return found if shutil.which("java") else []


_JAVA_CLASSES = _java_classes()
HAS_JAVA = bool(_JAVA_CLASSES)
WITHOUT_JAVA = ("no gRPC for Java: Debian's libgrpc-java, libnetty-java, "
                "libperfmark-java")


class ExamplePrograms:
    """Those that can run here. Each looks up at `port` of `hosts` for
    `seconds`; close() ends what still runs."""

    def __init__(self, folder, hosts, port, seconds):
        listed = "ipv4:" + ",".join(f"{host}:{port}" for host in hosts)
        self._seconds = seconds
        self._running = {}
        self._start("follow.py", ["/usr/bin/python3", f"{_FOLDER}/follow.py"],
                    listed)
        self._start("follow.cc", [find_program(f"{_FOLDER}/follow")], listed)
        if HAS_JAVA:
            names = f"{folder}/hosts"
            with open(names, "w", encoding="utf-8") as file:
                file.writelines(f"{host} words\n" for host in hosts)
            # Without a file in /tmp named by a number of process, which is
            # not the only one of that number where sandboxes number their own.
            self._start("Follow.java", [
                "java", "-XX:-UsePerfData", f"-Djdk.net.hosts.file={names}",
                "-cp", ":".join(_JAVA_CLASSES), f"{_FOLDER}/Follow.java"],
                        f"dns:///words:{port}")

    def _start(self, name, command, target):
        self._running[name] = subprocess.Popen(
            [*command, target, "examples/service_config.json",
             str(self._seconds)], stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True)

    def close(self):
        for program in self._running.values():
            program.kill()
            program.communicate()

    def wait(self):
        """What each printed, and its errors, by name."""
        return {name: program.communicate(timeout=self._seconds
                                          + _END_TIMEOUT_S)
                for name, program in self._running.items()}


def assert_lost_nothing(name, output, min_calls):
    """`output` is a value of what wait() gave."""
    printed, errors = output
    print(f"{name}: {printed}", end="")
    calls = re.fullmatch(r"(\d+) calls, 0 failed\n", printed)
    assert calls, printed + errors
    assert int(calls.group(1)) >= min_calls, printed
