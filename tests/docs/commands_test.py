"""Every command that README.md and docs/ show works as it stands.

Commands find a server where documents have it, at ports 7400 and 7401: those
are replaced, and so are the words in capitals that stand for something.
"""

import os
import re
import signal
import subprocess
import tempfile
import unittest

import yaml

from tests.docs import shown_commands
from tests.integration.harness.api import Client
from tests.integration.harness.certificates import Authority
from tests.integration.harness.process import (
    Server, config_of, find_program, free_port, table_of)

TIMEOUT_S = 60
BLOCK_TIMEOUT_S = 120

# gatherctl and gatherbench ask port 7400 of this machine where nothing else is
# said.
ELSEWHERE = """\
#!/bin/bash
case " $* " in
  *" --address="*) exec {program} "$@" ;;
  *) exec {program} --address="$ADDRESS" "$@" ;;
esac
"""

PLACEHOLDERS = {
    r"\bTABLE\b": "words",
    r"\bKEY\b": "17",
    r"--gpus=N\b": "--gpus=2",
}

# A server that a block starts stays until the block ends.
STARTS_SERVER = re.compile(r"^(\S*gatherd --config=\S+)( &)?$")
WAIT_READY = ("curl -fs --retry 60 --retry-connrefused --retry-delay 1 "
              "--noproxy '*' http://$METRICS/readyz")


def config_yaml(document):
    """The configuration that a document shows first."""
    with open(document, encoding="utf-8") as file:
        return re.search(r"^```yaml\n(.*?)^```$", file.read(),
                         re.DOTALL | re.MULTILINE).group(1)


class CommandsTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name
        cls.lay_out_programs()
        authority = Authority(cls.folder)
        os.rename(authority.issue("server").certificate,
                  f"{cls.folder}/server.pem")
        config = config_of([table_of("words", 4, 1000, "dense"),
                            table_of("items", 64, 1000)])
        cls.write("gatherd.yaml", yaml.safe_dump(config))
        cls.server = Server(config)
        cls.addClassCleanup(cls.server.close)
        client = Client(cls.server.address)
        client.lookup("words", [1])  # so that counters are above 0
        client.close()

    @classmethod
    def lay_out_programs(cls):
        for program in ("server/gatherd", "client/gatherctl",
                        "client/gatherbench"):
            path = find_program(program)
            text = f'#!/bin/bash\nexec {path} "$@"\n'
            if program.startswith("client/"):
                text = ELSEWHERE.format(program=path)
            for name in (f"bazel-bin/{program}",
                         f"bin/{os.path.basename(program)}"):
                os.makedirs(os.path.dirname(f"{cls.folder}/{name}"),
                            exist_ok=True)
                cls.write(name, text)
                os.chmod(f"{cls.folder}/{name}", 0o755)

    @classmethod
    def write(cls, name, text):
        with open(f"{cls.folder}/{name}", "w", encoding="utf-8") as file:
            file.write(text)

    def run_script(self, lines, address, metrics, **env):
        """Runs the lines of a block as one script."""
        script = "\n".join(lines)
        for pattern, text in PLACEHOLDERS.items():
            script = re.sub(pattern, text, script)
        script = re.sub(r"\b(HOST|127\.0\.0\.1|localhost):7400\b", address,
                        script)
        script = re.sub(r"\b(HOST|127\.0\.0\.1|localhost):7[45]01\b", metrics,
                        script)
        process = subprocess.Popen(
            ["bash", "-euc", script], cwd=self.folder, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, start_new_session=True,
            env={"PATH": f"{self.folder}/bin:{os.environ['PATH']}",
                 "HOME": self.folder, "NO_PROXY": "*", "ADDRESS": address,
                 "METRICS": metrics, **env})
        try:
            # Servers that it started hold its output, so wait for it alone.
            code = process.wait(BLOCK_TIMEOUT_S)
        finally:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            output = process.communicate()[0]
        self.assertEqual(0, code, f"{script}\n{output}")
        self.assertTrue(output.strip(), f"prints nothing:\n{script}")

    def lines_to_run(self, block):
        lines = []
        for command in block.commands():
            if shown_commands.reason_not_to_run(command) is None:
                starts = STARTS_SERVER.match(command)
                lines += [f"{starts[1]} &", WAIT_READY] if starts else [command]
        return lines

    def run_document(self, document):
        for block in shown_commands.blocks(document):
            lines = self.lines_to_run(block)
            if lines:
                with self.subTest(lines[0]):
                    self.run_script(lines, self.server.address,
                                    self.server.metrics_address)

    def own_ports(self, name, config):
        """Writes a configuration with ports of its own: (gRPC, HTTP)."""
        address, metrics = (f"127.0.0.1:{free_port()}" for _ in range(2))
        config = yaml.safe_load(config)
        config["server"] = {"address": address, "metrics_address": metrics}
        config["devices"] = "cpu"
        self.write(name, yaml.safe_dump(config))
        return address, metrics

    def test_documents(self):
        others = {"README.md", "docs/upgrading.md",
                  *shown_commands.RUN_ELSEWHERE}
        for document in shown_commands.documents():
            if document not in others:
                self.run_document(document)

    def test_readme(self):
        self.addCleanup(os.replace, f"{self.folder}/saved.yaml",
                        f"{self.folder}/gatherd.yaml")
        os.rename(f"{self.folder}/gatherd.yaml", f"{self.folder}/saved.yaml")
        address, metrics = self.own_ports("gatherd.yaml",
                                          config_yaml("README.md"))
        _, block = shown_commands.blocks("README.md")
        lines = self.lines_to_run(block)
        self.assertEqual(5, len(lines))  # one of them waits
        self.run_script(lines, address, metrics)

    def test_upgrading(self):
        check, replace = shown_commands.blocks("docs/upgrading.md")
        self.run_script(check.commands(), self.server.address,
                        self.server.metrics_address)
        old = Server(config_of([table_of("words", 4, 100)]))
        self.addCleanup(old.close)
        address, metrics = self.own_ports("new.yaml", "tables: []")
        self.run_script(self.lines_to_run(replace), address, metrics,
                        OLD_PID=str(old.process.pid))
        self.assertEqual(0, old.wait_exit(), old.log())

    def test_a_command_that_fails_is_noticed(self):
        for lines in (["gatherctl no_such_command"], ["true"],
                      ["curl -s 127.0.0.1:7401/metrics | grep no_such_thing"]):
            with self.assertRaises(AssertionError):
                self.run_script(lines, self.server.address,
                                self.server.metrics_address)


class ListTest(unittest.TestCase):
    """Of commands that are not run."""

    def setUp(self):
        self.all = [command for document in shown_commands.documents()
                    if document not in shown_commands.RUN_ELSEWHERE
                    for block in shown_commands.blocks(document)
                    for command in block.commands()]

    def test_each_entry_stands_for_a_command(self):
        for beginning in shown_commands.NOT_RUN:
            self.assertTrue(
                any(command.startswith(beginning) for command in self.all),
                f"no document has `{beginning}` any more")

    def test_most_commands_of_documents_are_found(self):
        self.assertGreater(len(self.all), 60)
        self.assertGreater(
            sum(shown_commands.reason_not_to_run(command) is None
                for command in self.all), 30)

    def test_tests_of_other_documents_read_them(self):
        for document, test in shown_commands.RUN_ELSEWHERE.items():
            with open(test, encoding="utf-8") as file:
                self.assertIn(f'"{document}"', file.read())
