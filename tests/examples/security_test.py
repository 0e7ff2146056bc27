"""The set-up of docs/security.md works as it stands there."""

import os
import re
import subprocess
import tempfile
import unittest

from tests.integration.harness.process import Server, find_program

# In place of the addresses of the document.
ENVIRONMENT = {
    f"GATHERD_SERVER_{key}": "127.0.0.1:0"
    for key in ("ADDRESS", "METRICS_ADDRESS", "HEALTH_ADDRESS")}
TABLES = "tables: [{name: words, dim: 4, tiers: [host: {rows: 10}]}]"


def blocks(text, language=""):
    """The texts between fences."""
    return [block for name, block in re.findall(
        r"^```(\w*)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
            if name == language]


class SecurityTest(unittest.TestCase):

    def test_the_set_up_works(self):
        with open("docs/security.md", encoding="utf-8") as file:
            text = file.read()
        folder = tempfile.mkdtemp(prefix="gatherd_test_")
        making = [block for block in blocks(text) if "openssl" in block]
        self.assertEqual(len(making), 4)
        for block in making:
            subprocess.run(["bash", "-euc", block], cwd=folder, check=True,
                           stdin=subprocess.DEVNULL, capture_output=True)
        self.assertEqual(
            os.stat(os.path.join(folder, "read_tokens")).st_mode & 0o77, 0)
        (config,) = blocks(text, "yaml")
        config = config.replace("tables: []", TABLES)
        with Server(config, folder=folder, env=ENVIRONMENT) as server:
            self.assertNotIn("[warning] tokens", server.log())
            self.assertNotIn("[warning] anyone", server.log())
            calls = next(b for b in blocks(text) if "gatherctl" in b)
            command = calls[:calls.index("\ngrpcurl")].replace("\\\n", "")
            command = command.replace("localhost:7400", server.address)
            program, *arguments = command.split()
            self.assertEqual(program, "gatherctl")

            def run(*args, program="gatherctl"):
                return subprocess.run(
                    [find_program(f"client/{program}"), *args], cwd=folder,
                    capture_output=True, text=True, check=False)
            good = run(*arguments)
            self.assertEqual(good.returncode, 0, good.stderr)
            self.assertIn("words", good.stdout)
            self.assertEqual(arguments.pop(), "tables")
            bench = run(*arguments, "--tables=words", "--warmup=10ms",
                        "--duration=100ms", "--rows=10",
                        program="gatherbench")
            self.assertEqual(bench.returncode, 0, bench.stderr)
            self.assertEqual(bench.stderr, "")
            for left_out, code in (("--token-file", "UNAUTHENTICATED"),
                                   ("--ca", "UNAVAILABLE")):
                bad = run(*(argument for argument in arguments
                            if not argument.startswith(left_out)),
                          "--timeout=3s", "tables")
                self.assertEqual(bad.returncode, 1)
                self.assertIn(code, bad.stderr)
