"""Certificates that tests make, by openssl, in a folder of their own."""

import dataclasses
import os
import shutil
import subprocess
import unittest

HOSTS = "DNS:localhost,IP:127.0.0.1"


def _openssl(*args):
    if shutil.which("openssl") is None:
        raise unittest.SkipTest("no openssl on this machine")
    subprocess.run(["openssl", *args], stdin=subprocess.DEVNULL, check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def read(path):
    with open(path, "rb") as file:
        return file.read()


@dataclasses.dataclass(frozen=True)
class Identity:
    """Paths of PEM files."""

    certificate: str
    key: str


class Authority:
    """Signs certificates with a self-signed one."""

    def __init__(self, folder, name="ca"):
        self._folder = folder
        self._name = name
        self.certificate = os.path.join(folder, name + ".pem")
        self._key = os.path.join(folder, name + ".key")
        _openssl("req", "-x509", *self._new_key(self._key), "-days", "2",
                 "-subj", f"/CN={name}", "-out", self.certificate)

    @staticmethod
    def _new_key(path):
        return ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
                "-nodes", "-keyout", path)

    def issue(self, name, days=2):
        """An Identity for this machine; with days=-1 one that has expired."""
        base = os.path.join(self._folder, f"{self._name}-{name}")
        _openssl("req", "-new", *self._new_key(base + ".key"),
                 "-subj", f"/CN={name}", "-out", base + ".csr")
        with open(base + ".ext", "w", encoding="utf-8") as file:
            file.write(f"subjectAltName={HOSTS}\n")
        _openssl("x509", "-req", "-in", base + ".csr", "-CA", self.certificate,
                 "-CAkey", self._key, "-CAcreateserial", "-days", str(days),
                 "-extfile", base + ".ext", "-out", base + ".pem")
        return Identity(base + ".pem", base + ".key")
