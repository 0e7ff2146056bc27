"""Defaults and limits of docs/configuration.md are those of the server."""

import os
import re
import subprocess
import tempfile
import unittest

import yaml

from tests.integration.harness.process import find_program

DOC = "docs/configuration.md"
ROW = re.compile(r"^\| `([a-z_.]+)` \| (.+?) \| *(.*?) *\|$", re.MULTILINE)
RANGE = re.compile(r"(?:^|, )`?(\d+)(us|ms|s|m)?`? to `?(\d+)(us|ms|s|m)?`?$")
WORDS = re.compile(r"(?:of `gpu` alone: )?(`\w+`(?:, `\w+`)+)")


def settings():
    """(key as a list, what is allowed, default) of each line."""
    with open(DOC, encoding="utf-8") as file:
        return [(key.split("."), allowed, default)
                for key, allowed, default in ROW.findall(file.read())]


def config_with(path, value):
    """A configuration that is right but for `value` at `path`."""
    config = {"server": {}, "log": {}, "devices": "cpu",
              "tables": [{"name": "t", "dim": 4,
                          "tiers": [{"gpu": {"rows": 10}},
                                    {"host": {"rows": 2**32 - 2}}]}]}
    place = config
    for name in path[:-1]:
        place = place[name]
        if isinstance(place, list):
            place = place[0]
        place = place.get("gpu", place)
    place[path[-1]] = value
    return config


def checked(config):
    """(effective configuration or None, stderr)"""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "gatherd.yaml")
        with open(path, "w", encoding="utf-8") as file:
            yaml.safe_dump(config, file)
        result = subprocess.run(
            [find_program("server/gatherd"), f"--config={path}", "--check"],
            capture_output=True, text=True, check=False)
    if result.returncode != 0:
        return None, result.stderr
    return next(yaml.safe_load_all(result.stdout)), result.stderr


class ConfigurationTest(unittest.TestCase):

    def test_defaults(self):
        effective, _ = checked(config_with(["devices"], "auto"))
        num_defaults = 0
        for path, _, default in settings():
            match = re.match("`(.*?)`", default)
            if match is None:
                continue
            num_defaults += 1
            value = effective
            for name in path:
                value = value[name]
                if isinstance(value, list):
                    value = value[0]
                if isinstance(value, dict):
                    value = value.get("gpu", value)
            self.assertEqual(yaml.safe_load(match.group(1)), value, path)
        self.assertGreater(num_defaults, 18)

    def test_ranges(self):
        num_ranges = 0
        for path, allowed, _ in settings():
            match = RANGE.search(allowed)
            if match is None or "port" in allowed:
                continue
            num_ranges += 1
            least, least_unit, most, most_unit = match.groups("")
            for number, unit in ((int(least), least_unit),
                                 (int(most), most_unit)):
                value = f"{number}{unit}" if unit else number
                effective, errors = checked(config_with(path, value))
                self.assertIsNotNone(effective, (path, value, errors))
            for number, unit in ((int(least) - 1, least_unit),
                                 (int(most) + 1, most_unit)):
                value = f"{number}{unit}" if unit else number
                effective, errors = checked(config_with(path, value))
                self.assertIsNone(effective, (path, value))
                self.assertIn(f"`{path[-1]}` is", errors)
        self.assertGreater(num_ranges, 6)

    def test_words(self):
        num_keys = 0
        for path, allowed, _ in settings():
            match = WORDS.match(allowed)
            if match is None:
                continue
            num_keys += 1
            words = re.findall(r"`(\w+)`", match.group(1))
            for word in words:
                value = yaml.safe_load(word)
                effective, errors = checked(config_with(path, value))
                self.assertIsNotNone(effective, (path, word, errors))
            effective, errors = checked(config_with(path, "nonsense"))
            self.assertIsNone(effective, path)
            for word in words:
                self.assertIn(word, errors.split("allowed:")[1])
        self.assertGreater(num_keys, 8)
