"""The stages of tools/test, and the count of test cases over all of them."""

import argparse
import dataclasses
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request
from xml.etree import ElementTree

# Bazel's exit codes.
_OK, _TESTS_FAILED, _NO_TESTS = 0, 3, 4

# The folders that the sanitizers and Clang are for: the engine. TSan over
# Debian's libgrpc reports faults that are none.
_ENGINE = ("//core/...", "//tests/core/...", "//tests/testing/...")

# Tests alone, and none for a GPU: the others need no kernels, which nvcc would
# compile once more. (What --build_tests_only builds is chosen by the tests'
# filter, which `bazel build` has to be told.)
_NO_KERNELS = ("--build_tests_only", "--test_tag_filters=-gpu")


@dataclasses.dataclass
class Stage:
    name: str
    what: str
    command: str
    flags: tuple
    targets: tuple


_STAGES = (
    Stage("opt", "everything, optimised", "test", (), ("//...",)),
    Stage("asan", "the engine under AddressSanitizer and UBSan", "test",
          ("--config=asan", *_NO_KERNELS), _ENGINE),
    Stage("tsan", "the engine under ThreadSanitizer", "test",
          ("--config=tsan", *_NO_KERNELS), _ENGINE),
    # Clang checks the lock annotations of all that it compiles: for the
    # sanitizers that was the engine but for what no test of theirs needs.
    Stage("clang", "the rest of the engine by Clang, with its lock annotations",
          "build", ("--config=tsan",), ("//core/...", "-//core/kernels/...")),
)


@dataclasses.dataclass
class Counts:
    passed: int = 0
    failed: list = dataclasses.field(default_factory=list)
    skipped: list = dataclasses.field(default_factory=list)

    def add(self, other):
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped

    def line(self):
        return (f"{self.passed} passed, {len(self.failed)} failed, "
                f"{len(self.skipped)} skipped")


def bazel_output(*args):
    """What a Bazel command prints; a partial answer if packages are broken."""
    return subprocess.run(
        ["bazel", *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, text=True, check=False).stdout


def has_gpu():
    try:
        return subprocess.run(
            ["nvidia-smi", "-L"], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            check=False).returncode == 0
    except FileNotFoundError:
        return False


def count_cases(label, xml):
    """Counts the test cases of one test.xml."""
    counts = Counts()
    for case in ElementTree.fromstring(xml).iter("testcase"):
        name = f"{label}: {case.get('name')}"
        skipped = case.find("skipped")
        if case.find("failure") is not None or case.find("error") is not None:
            counts.failed.append(name)
        elif skipped is not None:
            counts.skipped.append(f"{name}: {skipped.get('message')}")
        else:
            counts.passed += 1
    return counts


def read_uri(uri):
    path = urllib.request.url2pathname(urllib.parse.urlparse(uri).path)
    return pathlib.Path(path).read_bytes()


def count_events(events):
    """Counts the test cases in what Bazel's build event protocol says."""
    xml = {}  # of the last attempt, by label, run and shard
    status = {}
    not_built = set()
    for event in events:
        kind = next(iter(event["id"]))
        if kind not in ("testResult", "testSummary", "targetCompleted"):
            continue
        key = event["id"][kind]
        label = key["label"]
        if "testResult" in event:
            place = (label, key.get("run"), key.get("shard"))
            for output in event["testResult"].get("testActionOutput", ()):
                if output["name"] == "test.xml":
                    xml[place] = read_uri(output["uri"])
        elif "testSummary" in event:
            status[label] = event["testSummary"]["overallStatus"]
        elif "aborted" in event:
            if event["aborted"].get("reason") != "SKIPPED":
                not_built.add(label)
        elif "completed" in event and not event["completed"].get("success"):
            not_built.add(label)

    counts = Counts()
    for label in sorted(set(status) | not_built):
        own = Counts()
        if label not in not_built:
            for place, text in xml.items():
                if place[0] == label:
                    own.add(count_cases(label, text))
        good = label not in not_built and (
            status.get(label) in ("PASSED", "FLAKY"))
        if not good and not own.failed:
            own.failed.append(
                f"{label}: {status.get(label, 'does not build').lower()}")
        counts.add(own)
    return counts


def run_bazel(command, stage, extra_flags=()):
    """Runs a Bazel command, its output passing through; its exit code."""
    return subprocess.run(
        ["bazel", command, "--keep_going", "--color=no", "--curses=no",
         "--show_progress_rate_limit=10", "--show_timestamps",
         "--noshow_loading_progress", *stage.flags, *extra_flags, "--",
         *stage.targets],
        stdin=subprocess.DEVNULL, check=False).returncode


def run_stage(stage, extra_flags=()):
    """Runs one stage and counts its test cases."""
    if stage.command == "test":
        # Compiled before any test starts, so that none is slowed down by it.
        run_bazel("build", stage)
    with tempfile.NamedTemporaryFile(suffix=".json") as events_file:
        code = run_bazel(stage.command, stage, (
            *extra_flags, "--build_event_json_file=" + events_file.name))
        text = pathlib.Path(events_file.name).read_text(encoding="utf-8")
    counts = count_events(map(json.loads, text.splitlines()))
    if code not in (_OK, _TESTS_FAILED, _NO_TESTS):
        counts.failed.append(f"the build (Bazel's exit code {code})")
    counts.failed = [f"{stage.name}: {name}" for name in counts.failed]
    counts.skipped = [f"{stage.name}: {name}" for name in counts.skipped]
    return counts


def skipped_gpu_cases():
    """The test cases of tests that need a GPU, on a machine without one."""
    counts = Counts()
    labels = bazel_output(
        "query", "--keep_going",
        r'attr("tags", "\bgpu\b", tests(//...))').split()
    programs = pathlib.Path(bazel_output("info", "bazel-bin").strip())
    for label in labels:
        program = programs / label[2:].replace(":", "/")
        if not program.exists():
            counts.skipped.append(f"{label}: no CUDA Toolkit on this machine")
            continue
        listed = subprocess.run(
            [program, "--list-test-names-only"], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, text=True, check=False).stdout
        for name in filter(None, listed.splitlines()):
            counts.skipped.append(f"{label}: {name}: no GPU on this machine")
    return counts


def report(counts):
    for name in counts.skipped:
        print(f"skipped: {name}")
    for name in counts.failed:
        print(f"FAILED: {name}")
    print(counts.line(), flush=True)


def main():
    parser = argparse.ArgumentParser(prog="tools/test")
    parser.add_argument("--quick", action="store_true",
                        help="leave out the sanitizers and Clang")
    args = parser.parse_args()
    stages = _STAGES[:1] if args.quick else _STAGES

    start_s = time.monotonic()
    gpu = has_gpu()
    counts = Counts()
    for number, stage in enumerate(stages, start=1):
        minutes = (time.monotonic() - start_s) / 60
        print(f"=== [{number}/{len(stages)}] {stage.name}: {stage.what} "
              f"(after {minutes:.1f} min)", flush=True)
        is_first = number == 1
        counts.add(run_stage(stage, ("--config=gpu",) if is_first and gpu
                             else ()))
        if is_first and not gpu:
            counts.add(skipped_gpu_cases())
    if os.environ.get("CI"):  # leave no server behind
        subprocess.run(["bazel", "shutdown"], stdin=subprocess.DEVNULL,
                       check=False)
    minutes = (time.monotonic() - start_s) / 60
    print(f"=== done after {minutes:.1f} min", flush=True)
    report(counts)
    return 1 if counts.failed else 0


if __name__ == "__main__":
    sys.exit(main())
