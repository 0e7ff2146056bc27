"""The image keeps to good practice, and what it runs needs nothing more.

There is no docker here: the last stage is laid out in a folder, as its COPY
lines say, over glibc alone, and its ENTRYPOINT started there as its USER.
"""

import pathlib
import re
import shutil
import signal
import subprocess
import tarfile
import tempfile
import time
import unittest
import urllib.request

from tests.deploy.image import parse_dockerfile

_ARCHIVE = pathlib.Path("deploy/bundle/gatherd.tar.gz")
_START_TIMEOUT_S = 60

_CONFIG = """\
server: {address: "127.0.0.1:0", metrics_address: "127.0.0.1:0"}
devices: cpu
tables:
  - {name: words, dim: 4, tiers: [host: {rows: 100}]}
"""


class Dockerfile(unittest.TestCase):

    def setUp(self):
        text = pathlib.Path("deploy/Dockerfile").read_text(encoding="utf-8")
        self.args, self.stages = parse_dockerfile.parse(text)
        self.final = self.stages[-1]


class PracticeTest(Dockerfile):

    def test_bases_are_debian_12(self):
        # tools/install and the bundle are for this glibc.
        self.assertEqual([("ARG", "BUILD_IMAGE=debian:12-slim")], self.args)
        for stage in self.stages:
            self.assertIn(stage.base,
                          ("debian:12-slim", "${BUILD_IMAGE}", "scratch"))

    def test_copies_come_from_stages_before(self):
        names = [stage.name for stage in self.stages]
        for number, stage in enumerate(self.stages):
            for copy in stage.all("COPY"):
                source = re.match(r"--from=(\S+)", copy)
                if source:
                    self.assertIn(source.group(1), names[:number])

    def test_user_is_a_number_other_than_root(self):
        self.assertRegex(self.final.last("USER"), r"^[1-9]\d+:[1-9]\d+$")

    def test_nothing_runs_in_the_final_stage(self):
        self.assertEqual([], self.final.all("RUN"))

    def test_nothing_is_added_from_elsewhere(self):
        for stage in self.stages:
            self.assertEqual([], stage.all("ADD"))

    def test_stops_as_the_server_drains(self):
        self.assertEqual("SIGTERM", self.final.last("STOPSIGNAL"))

    def test_leaves_health_to_the_orchestrator(self):
        self.assertEqual([], self.final.all("HEALTHCHECK"))

    def test_server_gets_signals_itself(self):
        self.assertEqual(["/opt/gatherd/bin/gatherd"],
                         self.final.argv("ENTRYPOINT"))
        self.assertEqual(["--config=/etc/gatherd/gatherd.yaml"],
                         self.final.argv("CMD"))

    def test_labels_say_what_it_is(self):
        labels = self.final.pairs("LABEL")
        for name in ("title", "description", "version", "revision"):
            self.assertTrue(labels[f"org.opencontainers.image.{name}"])

    def test_all_gpus_are_not_taken_for_granted(self):
        self.assertNotIn("NVIDIA_VISIBLE_DEVICES", self.final.pairs("ENV"))


def glibc_of(program):
    """The loader and the parts of glibc that a program needs."""
    listed = subprocess.run(["ldd", program], check=True, text=True,
                            stdout=subprocess.PIPE).stdout
    return [path for path in re.findall(r"(/\S+) \(0x", listed)
            if "/opt/gatherd/" not in path]


def can_mount():
    return subprocess.run(["unshare", "--mount", "true"], check=False,
                          stderr=subprocess.DEVNULL).returncode == 0


@unittest.skipUnless(can_mount(), "no right to mount a root for the server")
class RunTest(Dockerfile):

    def setUp(self):
        super().setUp()
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="gatherd_test_"))
        self.addCleanup(shutil.rmtree, self.root)
        self.root.chmod(0o755)
        self.lay_out()

    def lay_out(self):
        """What the last two stages do."""
        self.assertEqual(
            ["tar --extract --file=/tmp/gatherd.tar.gz --directory=/opt"],
            self.stages[-2].all("RUN"))
        self.assertEqual(["--from=unpacked /opt/gatherd /opt/gatherd"],
                         self.final.all("COPY"))
        with tarfile.open(_ARCHIVE) as archive:
            archive.extractall(self.root / "opt")
        for program in (self.root / "opt/gatherd/bin").iterdir():
            for path in glibc_of(program):
                target = self.root / path.lstrip("/")
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, target)
                target.chmod(0o755)
        (self.root / "proc").mkdir()
        folder = self.root / "etc/gatherd"
        folder.mkdir(parents=True)
        (folder / "gatherd.yaml").write_text(_CONFIG, encoding="utf-8")

    def command(self, *argv):
        """As in a container: a read-only root, /proc, another user."""
        user, group = self.final.last("USER").split(":")
        script = ('mount --bind "$0" "$0"; mount --rbind /proc "$0/proc"; '
                  'mount -o remount,bind,ro "$0"; '
                  'exec chroot --userspec="$1" --groups= "$0" "${@:2}"')
        return ["unshare", "--mount", "--propagation=private", "bash", "-ec",
                script, self.root, f"{user}:{group}", *argv]

    def environment(self):
        path = self.final.pairs("ENV")["PATH"]
        return {"PATH": path.replace(
            "${PATH}", "/usr/sbin:/usr/bin:/sbin:/bin")}

    def test_tools_are_on_the_path(self):
        for name in ("gatherctl", "gatherbench", "gatherd"):
            folder = self.environment()["PATH"].split(":")[0]
            result = subprocess.run(
                self.command(f"{folder}/{name}", "--help"),
                env=self.environment(), capture_output=True, text=True,
                check=False)
            self.assertEqual(0, result.returncode, result.stderr)
            self.assertIn(name, result.stdout)

    def test_image_has_the_version_of_its_server(self):
        result = subprocess.run(
            self.command("/opt/gatherd/bin/gatherd", "--version"),
            env=self.environment(), capture_output=True, text=True, check=True)
        version = result.stdout.split()[1]
        self.assertIn(f"VERSION={version}", self.final.all("ARG"))

    def test_serves_and_drains_without_a_place_to_write(self):
        log = self.root.with_suffix(".log")
        self.addCleanup(log.unlink)
        with open(log, "wb") as file:
            server = subprocess.Popen(
                self.command(*self.final.argv("ENTRYPOINT"),
                             *self.final.argv("CMD")),
                env=self.environment(), stdin=subprocess.DEVNULL, stdout=file,
                stderr=file)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        self.wait_ready(server, log)
        server.send_signal(getattr(signal, self.final.last("STOPSIGNAL")))
        self.assertEqual(0, server.wait(_START_TIMEOUT_S), log.read_text())

    def wait_ready(self, server, log):
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        deadline = time.monotonic() + _START_TIMEOUT_S
        while time.monotonic() < deadline:
            self.assertIsNone(server.poll(), log.read_text())
            address = re.search(r"metrics on (\S+)", log.read_text())
            if address:
                try:
                    opener.open(f"http://{address.group(1)}/readyz").close()
                    return
                except OSError:
                    pass
            time.sleep(0.02)
        self.fail(log.read_text())


if __name__ == "__main__":
    unittest.main()
