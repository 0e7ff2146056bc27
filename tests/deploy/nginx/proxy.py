"""nginx with deploy/nginx/gatherd.conf, on this machine's ports."""

import os
import re
import shutil
import socket
import subprocess
import unittest

from tests.integration.harness.process import free_port, wait_until

# Debian has it where only root looks.
PROGRAM = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin")

_START_TIMEOUT_S = 30

# What surrounds /etc/nginx/conf.d.
_MAIN = """\
user {user};
pid {folder}/nginx.pid;
error_log {folder}/error.log;
worker_processes 1;
events {{ worker_connections 1024; }}
http {{
  client_body_temp_path {folder}/body;
  fastcgi_temp_path {folder}/fastcgi;
  proxy_temp_path {folder}/proxy;
  scgi_temp_path {folder}/scgi;
  uwsgi_temp_path {folder}/uwsgi;
  include {folder}/gatherd.conf;
}}
"""


class Proxy:
    """`identity` is the proxy's own, `addresses` those of its servers. Skips
    the test where there is no nginx."""

    def __init__(self, folder, identity, addresses):
        if PROGRAM is None:
            raise unittest.SkipTest("no nginx: Debian's package has it")
        self.port = free_port()
        with open("deploy/nginx/gatherd.conf", encoding="utf-8") as file:
            config = file.read()
        for pattern, text in (
                (r"server 10\.0\.0\.11:7400", f"server {addresses[0]}"),
                (r"server 10\.0\.0\.12:7400", f"server {addresses[1]}"),
                (r"listen 443 ", f"listen 127.0.0.1:{self.port} "),
                (r"/etc/nginx/gatherd/server\.pem", identity.certificate),
                (r"/etc/nginx/gatherd/server\.key", identity.key)):
            config, count = re.subn(pattern, text, config)
            assert count == 1, f"{count} times in the file: {pattern}"
        self._write(folder, "gatherd.conf", config)
        user = "root" if os.geteuid() == 0 else os.environ["USER"]
        self._write(folder, "nginx.conf", _MAIN.format(
            folder=folder, user=user))
        self._log_path = os.path.join(folder, "error.log")
        self._command = [PROGRAM, "-p", folder, "-c", f"{folder}/nginx.conf",
                         "-e", self._log_path]
        self._process = None

    @staticmethod
    def _write(folder, name, text):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)

    def check(self):
        """What nginx says of the configuration."""
        return subprocess.run(
            [*self._command, "-t"], stdin=subprocess.DEVNULL,
            capture_output=True, text=True, check=False)

    def log(self):
        with open(self._log_path, encoding="utf-8") as file:
            return file.read()

    def start(self):
        self._process = subprocess.Popen(
            [*self._command, "-g", "daemon off;"], stdin=subprocess.DEVNULL)

        def listening():
            if self._process.poll() is not None:
                raise AssertionError(self.log())
            with socket.socket() as probe:
                return probe.connect_ex(("127.0.0.1", self.port)) == 0
        wait_until(listening, _START_TIMEOUT_S, "nginx")

    def close(self):
        if self._process is not None:
            self._process.terminate()
            self._process.wait()
