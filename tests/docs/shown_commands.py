"""The commands in documents, and which of them no test runs."""

import dataclasses
import glob
import re
import textwrap

# Whole documents whose commands other tests run as they stand.
RUN_ELSEWHERE = {
    "docs/clients.md": "tests/examples/clients_test.py",
    "docs/security.md": "tests/examples/security_test.py",
}

# Beginnings of commands that are not run, and why. One that begins no command
# any more is a fault.
NOT_RUN = {
    "tools/quickstart": "installs; its tour is tests/integration's quickstart",
    "tools/test": "runs this test",
    "bazel build": "Bazel has built what the test uses",
    "docker ": "no Docker here; tests/deploy/image does what it would",
    "helm ": "no cluster; tests/deploy/helm renders and serves the chart",
    "kubectl ": "no cluster",
    "nvidia-smi": "no GPU",
    "tests/bench/gpu_scale_bench.py": "no GPU",
    "dmesg": "the kernel's log is not everyone's",
    "cat /sys/kernel/mm/transparent_hugepage": "not every kernel has it",
    "gatherctl --address=HOST:7400 --ca=": "TLS: security_test has it",
    "openssl s_client": "TLS: tests/integration/tls_test.py has it",
}

# What a line of a runbook starts with unless it is PromQL, which
# tests/deploy/prometheus/live_test.py asks a real Prometheus.
_PROGRAMS = ("curl", "dmesg", "gatherctl", "gatherd", "kubectl", "nvidia-smi",
             "openssl")


@dataclasses.dataclass(frozen=True)
class Block:
    """A fenced block of commands."""

    document: str
    text: str

    def commands(self):
        """One for each line; a backslash joins lines."""
        lines = self.text.replace("\\\n", " ").splitlines()
        if self.document.startswith("docs/runbooks/"):
            lines = [line for line in lines if line.split()[0] in _PROGRAMS]
        return [line for line in lines if line.strip()]


# Minutes for each command, mostly on a machine with GPUs.
BENCHMARKS = "docs/benchmarks.md"


def documents():
    """Those whose commands are run, here or elsewhere."""
    found = (["README.md"] + sorted(glob.glob("docs/*.md"))
             + sorted(glob.glob("docs/runbooks/*.md")))
    return [document for document in found if document != BENCHMARKS]


def blocks(document):
    """Blocks without a language, or of the shell's: all else is no command."""
    with open(document, encoding="utf-8") as file:
        found = re.findall(r"^( *)```(\S*)\n(.*?)^\1```$", file.read(),
                           re.DOTALL | re.MULTILINE)
    return [Block(document, textwrap.dedent(text))
            for _, language, text in found if language in ("", "sh")]


def reason_not_to_run(command):
    """None if it is to be run."""
    return next((reason for beginning, reason in NOT_RUN.items()
                 if command.startswith(beginning)), None)
