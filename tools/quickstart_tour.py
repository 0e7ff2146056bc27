"""Shows a gatherd server at work: tools/quickstart has built what this runs.

Starts configs/quickstart.yaml, then does everything through gatherctl, whose
commands are printed so that they can be typed again.
"""

import argparse
import json
import math
import os
import pathlib
import re
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).absolute().parents[1]
CONFIG = "configs/quickstart.yaml"
START_TIMEOUT_S = 60

WORDS = ("paris france london england moscow russia tokyo japan monday "
         "tuesday doctor hospital computer software").split()


class TourFailed(Exception):
    """Told to the user; everything is cleaned up."""


def say(text=""):
    print(text, flush=True)


def is_taken(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


class Server:
    """gatherd as a process of its own session, its log in a file."""

    def __init__(self, program):
        self.log_path = tempfile.mkstemp(prefix="gatherd_", suffix=".log")[1]
        environment = dict(os.environ)
        for name, port in (("ADDRESS", 7400), ("METRICS_ADDRESS", 7401)):
            if is_taken(port):
                say(f"port {port} is taken: using a free one")
                environment[f"GATHERD_SERVER_{name}"] = "127.0.0.1:0"
        with open(self.log_path, "wb") as log:
            self.process = subprocess.Popen(
                [program, f"--config={CONFIG}"], cwd=ROOT, env=environment,
                stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                start_new_session=True)
        self.address = self._announced("listening on")
        self.metrics_address = self._announced("metrics on")

    def _announced(self, words):
        deadline = time.monotonic() + START_TIMEOUT_S
        while time.monotonic() < deadline:
            log = pathlib.Path(self.log_path).read_text(encoding="utf-8")
            match = re.search(words + r' ([^\s"]+)', log)
            if match:
                return match.group(1)
            if self.process.poll() is not None:
                break
            time.sleep(0.05)
        self.stop()
        raise TourFailed(f"the server did not start; {self.log_path} says:\n"
                         + log)

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


class Client:
    """Runs gatherctl and shows its command lines."""

    def __init__(self, program, address):
        self._command = [program, f"--address={address}"]

    def _run(self, *arguments):
        result = subprocess.run(
            [*self._command, *arguments], cwd=ROOT, capture_output=True,
            text=True, check=False)
        if result.returncode != 0:
            raise TourFailed(f"gatherctl {shlex.join(arguments)} ended with "
                             f"{result.returncode}: {result.stderr}")
        return result.stdout

    def show(self, *arguments):
        line = shlex.join([*self._command, *arguments])
        say(f"$ {line if len(line) < 200 else line[:200] + '...'}")
        say(self._run(*arguments))

    def wait_ready(self):
        deadline = time.monotonic() + START_TIMEOUT_S
        while True:
            try:
                return self._run("health")
            except TourFailed:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.1)

    def vectors(self, words):
        """{word: values} of the words that are there."""
        answer = json.loads(self._run(
            "--json", "lookup", "words", *[f"fnv:{word}" for word in words]))
        return {row["text"]: row["values"] for row in answer["rows"]
                if not row["missing"]}


def cosine(a, b):
    product = sum(x * y for x, y in zip(a, b))
    return product / math.sqrt(sum(x * x for x in a) * sum(y * y for y in b))


def show_neighbours(vectors, words):
    """For each word the others that are most like it."""
    for word in words:
        others = sorted(
            ((cosine(vectors[word], vectors[other]), other)
             for other in vectors if other != word), reverse=True)
        nearest = "  ".join(f"{other} {value:.2f}"
                            for value, other in others[:3])
        say(f"  {word:10} {nearest}")
    say()


def tour(client):
    say("The server holds the 2,000 most frequent English words, 100 numbers "
        "each:")
    client.show("tables")
    say("LOOKUP: a word's key is the hash of its text; a word that is not "
        "there says so:")
    client.show("lookup", "words", "fnv:king", "fnv:queen", "fnv:gatherd")
    say(f"These are real word vectors. Of {len(WORDS)} looked-up words, the "
        "most alike (cosine):")
    vectors = client.vectors(WORDS)
    show_neighbours(vectors, ("paris", "tokyo", "monday", "doctor"))
    say("UPDATE: a new word, half way between `computer` and `software`:")
    row = ",".join(f"{(a + b) / 2:.5g}" for a, b in
                   zip(vectors["computer"], vectors["software"]))
    client.show("update", "words", f"fnv:gatherd={row}")
    client.show("lookup", "words", "fnv:gatherd")
    show_neighbours(client.vectors([*WORDS, "gatherd"]), ["gatherd"])
    say("ERASE: and it is gone again:")
    client.show("erase", "words", "fnv:gatherd")
    client.show("lookup", "words", "fnv:gatherd")


def show_how_to_go_on(server, programs, kept):
    if kept:
        say(f"The server is still running (process {server.process.pid}, log "
            f"{server.log_path}):")
        say(f"  gRPC      {server.address}")
        say(f"  metrics   http://{server.metrics_address}/metrics")
        say(f"  ask it    {programs}/client/gatherctl "
            f"--address={server.address} tables")
        say(f"  stop it   kill {server.process.pid}")
    else:
        say("The server has been stopped; tools/quickstart --keep leaves it "
            "running. By hand:")
        say(f"  {programs}/server/gatherd --config={CONFIG}")
    say("To go on: docs/api.md (calling it from Python and C++), "
        "docs/configuration.md\n(your own tables), "
        f"{programs}/client/gatherctl --help, tools/test (all tests).")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--programs", default="bazel-bin",
                        help="the folder of server/ and client/")
    arguments = parser.parse_args()
    keep, programs = arguments.keep, arguments.programs
    server = None
    try:
        say(f"starting {programs}/server/gatherd --config={CONFIG}")
        server = Server(f"{programs}/server/gatherd")
        say(f"listening on {server.address}\n")
        client = Client(f"{programs}/client/gatherctl", server.address)
        client.wait_ready()
        tour(client)
        if not keep:
            server.stop()
            os.unlink(server.log_path)
        show_how_to_go_on(server, programs, keep)
        return 0
    except TourFailed as failure:
        print(f"quickstart: {failure}", file=sys.stderr)
        keep = False
        return 1
    finally:
        if server is not None and not keep:
            server.stop()


if __name__ == "__main__":
    # Ctrl-C and SIGTERM leave no server behind.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
