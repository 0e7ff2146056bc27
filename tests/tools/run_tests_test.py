"""tools/test counts test cases, and never takes a broken build for success."""

import pathlib
import tempfile
import unittest

from tools import run_tests


def summary(label, status):
    return {"id": {"testSummary": {"label": label}},
            "testSummary": {"overallStatus": status}}


class CountCasesTest(unittest.TestCase):

    def test_tells_the_outcomes_apart(self):
        counts = run_tests.count_cases("//a:test", """
            <testsuites><testsuite>
              <testcase name="good"/>
              <testcase name="bad"><failure/></testcase>
              <testcase name="worse"><error/></testcase>
              <testcase name="late"><skipped message="no data"/></testcase>
            </testsuite></testsuites>""")
        self.assertEqual("1 passed, 2 failed, 1 skipped", counts.line())
        self.assertEqual(["//a:test: bad", "//a:test: worse"], counts.failed)
        self.assertEqual(["//a:test: late: no data"], counts.skipped)


class CountEventsTest(unittest.TestCase):

    def result(self, label, xml):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = pathlib.Path(folder.name) / "test.xml"
        path.write_text(xml, encoding="utf-8")
        return {"id": {"testResult": {"label": label, "run": 1}},
                "testResult": {"testActionOutput": [
                    {"name": "test.log", "uri": "file:///nowhere"},
                    {"name": "test.xml", "uri": path.as_uri()}]}}

    def test_adds_up_test_programs(self):
        good = '<testsuites><testcase name="x"/></testsuites>'
        counts = run_tests.count_events([
            {"id": {"started": {}}},
            self.result("//a:test", good), summary("//a:test", "PASSED"),
            self.result("//b:test", good), summary("//b:test", "PASSED")])
        self.assertEqual("2 passed, 0 failed, 0 skipped", counts.line())

    def test_a_test_that_fails_without_saying_why_is_a_failure(self):
        good = '<testsuites><testcase name="x"/></testsuites>'
        counts = run_tests.count_events([
            self.result("//a:test", good), summary("//a:test", "TIMEOUT")])
        self.assertEqual(["//a:test: timeout"], counts.failed)

    def test_what_does_not_build_is_a_failure(self):
        counts = run_tests.count_events([
            {"id": {"targetCompleted": {"label": "//a:library"}},
             "completed": {}},
            {"id": {"targetCompleted": {"label": "//a:good"}},
             "completed": {"success": True}},
            {"id": {"targetCompleted": {"label": "//a:lost"}},
             "aborted": {"reason": "ANALYSIS_FAILURE"}},
            summary("//a:test", "FAILED_TO_BUILD")])
        self.assertEqual(3, len(counts.failed))
        self.assertEqual(0, counts.passed)

    def test_what_this_machine_cannot_build_is_none(self):
        counts = run_tests.count_events([
            {"id": {"targetCompleted": {"label": "//a:kernel"}},
             "aborted": {"reason": "SKIPPED"}}])
        self.assertEqual("0 passed, 0 failed, 0 skipped", counts.line())
