"""Runs a unittest module and writes its results as Bazel's test.xml.

usage: py_test_main.py FILE [TEST...]; FILE is a path from the root of the tree.
"""

import os
import sys
import time
import unittest
from xml.etree import ElementTree


class RecordingResult(unittest.TextTestResult):
    """Also keeps one (name, seconds, kind, text) for every test case."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.records = []
        self._start_s = time.monotonic()
        self._failed_subtests = []

    def startTest(self, test):
        super().startTest(test)
        self._start_s = time.monotonic()
        self._failed_subtests = []

    def _record(self, test, kind, text):
        seconds = time.monotonic() - self._start_s
        self.records.append((test.id(), seconds, kind, text))

    def addSuccess(self, test):
        super().addSuccess(test)
        self._record(test, "passed", "")

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self._record(test, "skipped", reason)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self._record(test, "failure", self.failures[-1][1])

    def addError(self, test, err):
        super().addError(test, err)
        self._record(test, "failure", self.errors[-1][1])

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            self._failed_subtests.append(str(subtest))

    def stopTest(self, test):
        super().stopTest(test)
        if self._failed_subtests:
            self._record(test, "failure", "\n".join(self._failed_subtests))


def write_xml(path, suite, records):
    root = ElementTree.Element("testsuites")
    element = ElementTree.SubElement(root, "testsuite", name=suite)
    for name, seconds, kind, text in records:
        case = ElementTree.SubElement(
            element, "testcase", classname=suite, name=name,
            time=f"{seconds:.3f}")
        if kind != "passed":
            summary = text.strip().splitlines()[-1] if text.strip() else kind
            ElementTree.SubElement(case, kind, message=summary).text = text
    ElementTree.ElementTree(root).write(path, encoding="utf-8")


def main():
    path = sys.argv[1]
    module = path[: -len(".py")].replace("/", ".")
    tests = unittest.defaultTestLoader.loadTestsFromNames(
        [f"{module}.{name}" for name in sys.argv[2:]] or [module])
    runner = unittest.TextTestRunner(
        resultclass=RecordingResult, verbosity=2)
    result = runner.run(tests)
    if "XML_OUTPUT_FILE" in os.environ:
        write_xml(os.environ["XML_OUTPUT_FILE"], module, result.records)
    if not result.records:
        print(f"{path} holds no test", file=sys.stderr)
        return 1
    return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
