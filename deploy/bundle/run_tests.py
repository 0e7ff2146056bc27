"""Runs the integration tests of a bundle, in parallel.

usage: run_tests [--devices=cuda] [--jobs=N] [--logs=FOLDER] [NAME...]

NAME is a test module without its ending, as in words_test; all, if none is
given. Prints a line for each test and at last `N passed, N failed, N skipped`.
Exit code 1 if a test failed.
"""

import argparse
import concurrent.futures
import os
import pathlib
import subprocess
import sys
import tempfile
from xml.etree import ElementTree

ROOT = pathlib.Path(__file__).resolve().parent
TESTS = pathlib.Path("tests/integration")
MODULE_TIMEOUT_S = 900
MAX_SHOWN_LINES = 60


def run_module(name, devices, logs):
    """Runs one module: [(outcome, test, reason)], and the end of its log."""
    log_path = logs / f"{name}.log"
    xml_path = logs / f"{name}.xml"
    env = {**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT}/client/python",
           "GATHERD_TEST_DEVICES": devices, "XML_OUTPUT_FILE": str(xml_path)}
    with open(log_path, "wb") as log:
        try:
            code = subprocess.run(
                [sys.executable, "bazel/py_test_main.py",
                 str(TESTS / f"{name}.py")],
                cwd=ROOT, env=env, stdin=subprocess.DEVNULL, stdout=log,
                stderr=log, timeout=MODULE_TIMEOUT_S, check=False).returncode
            reason = f"exit code {code}"
        except subprocess.TimeoutExpired:
            code, reason = 1, f"no end within {MODULE_TIMEOUT_S} s"
    outcomes = read_outcomes(name, xml_path) if xml_path.exists() else []
    if code != 0 and not any(kind == "FAILED" for kind, *_ in outcomes):
        outcomes.append(("FAILED", name, reason))
    lines = log_path.read_text(errors="replace").splitlines()
    return outcomes, lines[-MAX_SHOWN_LINES:]


def read_outcomes(name, xml_path):
    outcomes = []
    for case in ElementTree.parse(xml_path).iter("testcase"):
        test = case.get("name").rsplit("integration.", maxsplit=1)[-1]
        failure, skipped = case.find("failure"), case.find("skipped")
        if failure is not None:
            outcomes.append(("FAILED", test, failure.get("message")))
        elif skipped is not None:
            outcomes.append(("skipped", test, skipped.get("message")))
        else:
            outcomes.append(("passed", test, f"{case.get('time')} s"))
    if not outcomes:
        outcomes.append(("FAILED", name, "no test was run"))
    return outcomes


def run_all(names, devices, jobs, logs):
    counts = {"passed": 0, "FAILED": 0, "skipped": 0}
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        runs = [pool.submit(run_module, name, devices, logs) for name in names]
        for run in concurrent.futures.as_completed(runs):
            outcomes, log = run.result()
            for kind, test, reason in outcomes:
                counts[kind] += 1
                print(f"{kind}: {test}: {reason}")
            if any(kind == "FAILED" for kind, *_ in outcomes):
                print("\n".join(f"    {line}" for line in log))
            sys.stdout.flush()
    print(f"{counts['passed']} passed, {counts['FAILED']} failed, "
          f"{counts['skipped']} skipped")
    return counts["FAILED"] == 0


def main():
    parser = argparse.ArgumentParser(
        prog="run_tests", description="Runs the integration tests.")
    parser.add_argument("--devices", default=os.environ.get(
        "GATHERD_TEST_DEVICES", "cpu"), help="cpu, cuda, or a list: [0, 1]")
    parser.add_argument("--jobs", type=int, metavar="N",
                        default=max(1, (os.cpu_count() or 2) // 2),
                        help="test modules at a time; half the cores")
    parser.add_argument("--logs", metavar="FOLDER",
                        help="keeps the log of each module there")
    parser.add_argument("names", nargs="*", metavar="NAME")
    options = parser.parse_args()
    names = options.names or sorted(
        path.stem for path in (ROOT / TESTS).glob("*_test.py"))
    with tempfile.TemporaryDirectory() as scratch:
        logs = pathlib.Path(options.logs or scratch)
        logs.mkdir(parents=True, exist_ok=True)
        good = run_all(names, options.devices, options.jobs, logs.resolve())
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
