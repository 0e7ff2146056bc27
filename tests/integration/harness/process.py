"""Starts, watches and stops the programs under test."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

# What the tests run against: cpu, or cuda or a list of GPUs as in [0, 1], as
# `devices` of a configuration.
DEVICES = os.environ.get("GATHERD_TEST_DEVICES", "cpu")
if DEVICES.startswith("["):
    DEVICES = json.loads(DEVICES)
ON_GPU = DEVICES != "cpu"

# The tier of tables that are about no tier in particular, and what backends
# call themselves.
TIER = "gpu" if ON_GPU else "host"
BACKEND = "cuda" if ON_GPU else "cpu"

# Hides every GPU from a process.
NO_GPU = {"CUDA_VISIBLE_DEVICES": ""}

START_TIMEOUT_S = 60
STOP_TIMEOUT_S = 60


def find_program(target):
    """Path of `folder/name`, in the runfiles or in a built source tree."""
    for root in (".", "bazel-bin"):
        path = os.path.abspath(os.path.join(root, target))
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    raise FileNotFoundError(f"{target} is not built")


def gatherd(*args, env=None, timeout=START_TIMEOUT_S):
    """Runs gatherd to its end; returns its CompletedProcess."""
    return subprocess.run(
        [find_program("server/gatherd"), *args], env=_environment(env),
        capture_output=True, text=True, timeout=timeout, check=False)


def gatherctl(*args, timeout=START_TIMEOUT_S):
    """Runs gatherctl to its end; returns its CompletedProcess."""
    return subprocess.run(
        [find_program("client/gatherctl"), *args], capture_output=True,
        text=True, timeout=timeout, check=False)


def config_of(tables, server=None, **sections):
    """A configuration as a dict: free ports, DEVICES, `tables`."""
    return {
        "server": {
            "address": "127.0.0.1:0",
            "metrics_address": "127.0.0.1:0",
            **(server or {}),
        },
        "devices": DEVICES,
        **sections,
        "tables": tables,
    }


def table_of(name, dim, rows, key_space="hashed", tier=TIER, **settings):
    """A table of a configuration, in one tier."""
    return {
        "name": name,
        "dim": dim,
        "key_space": key_space,
        "tiers": [{tier: {"rows": rows}}],
        **settings,
    }


def wait_until(condition, timeout_s, what):
    """The first true value of condition(), polled."""
    deadline = time.monotonic() + timeout_s
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {timeout_s} s: {what}")
        time.sleep(0.01)


def free_port():
    """A TCP port that nothing listens on at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def fetch(url, timeout_s=10):
    """(status, text) of a GET; status 0 if nobody answers."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(url, timeout=timeout_s) as reply:
            return reply.status, reply.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()
    except OSError as error:
        return 0, str(error)


def _environment(extra):
    env = {k: v for k, v in os.environ.items()
           if not k.startswith("GATHERD_SERVER_")}
    if not ON_GPU:
        env.update(NO_GPU)
    env.update(extra or {})
    return env


class Server:
    """A running gatherd. `config` is a dict (JSON is YAML) or YAML text.

    Files that the configuration names go into `folder`, which is where
    relative paths start and which close() removes.
    """

    def __init__(self, config, args=(), env=None, folder=None, start=True,
                 program="server/gatherd"):
        self.folder = folder or tempfile.mkdtemp(prefix="gatherd_test_")
        self.config_path = os.path.join(self.folder, "gatherd.yaml")
        if isinstance(config, dict):
            config = json.dumps(config, indent=1)
        with open(self.config_path, "w", encoding="utf-8") as file:
            file.write(config)
        self._log_path = os.path.join(self.folder, "log")
        with open(self._log_path, "wb") as log:
            self.process = subprocess.Popen(
                [find_program(program),
                 f"--config={self.config_path}", *args],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                env=_environment(env))
        self.address = self.metrics_address = None
        if start:
            try:
                self.wait_listening()
                self.wait_ready()
            except BaseException:
                self.close()
                raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def log(self):
        with open(self._log_path, encoding="utf-8", errors="replace") as file:
            return file.read()

    def _logged(self, pattern):
        def look():
            match = re.search(pattern, self.log())
            if match is None and self.process.poll() is not None:
                raise AssertionError(
                    f"gatherd ended with {self.process.returncode} before "
                    f"/{pattern}/ was logged:\n{self.log()}")
            return match
        return wait_until(look, START_TIMEOUT_S, pattern).group(1)

    def wait_listening(self):
        self.address = self._logged(r'\blistening on ([^\s"]+)')
        self.metrics_address = self._logged(r'\bmetrics on ([^\s"]+)')

    def wait_health_address(self):
        """Of a server that is configured to have one."""
        return self._logged(r'\bhealth on ([^\s"]+)')

    def wait_ready(self):
        def ready():
            if self.process.poll() is not None:
                raise AssertionError(
                    f"gatherd ended with {self.process.returncode} before "
                    f"it was ready:\n{self.log()}")
            return self.http("/readyz")[0] == 200
        wait_until(ready, START_TIMEOUT_S, "/readyz")

    def http(self, path):
        return fetch(f"http://{self.metrics_address}{path}")

    def wait_exit(self, timeout_s=STOP_TIMEOUT_S):
        """The exit code."""
        return self.process.wait(timeout_s)

    def signal(self, number=signal.SIGTERM):
        self.process.send_signal(number)

    def stop(self):
        """Asks for a clean stop; the exit code."""
        if self.process.poll() is None:
            self.signal()
        return self.wait_exit()

    def close(self):
        """Leaves nothing behind; shows the end of the log (Bazel prints it
        only if a test failed)."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        if os.path.isdir(self.folder):
            tail = "\n".join(self.log().splitlines()[-20:])
            print(f"-- gatherd, exit {self.process.returncode}:\n{tail}",
                  file=sys.stderr)
            shutil.rmtree(self.folder)
