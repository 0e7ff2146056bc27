"""Reads Prometheus' text format, strictly enough to notice what is wrong."""

import re

_SAMPLE = re.compile(r'^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$')
_LABEL = re.compile(r'([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"(?:,|$)')
_SUFFIXES = {"histogram": ("_bucket", "_sum", "_count"),
             "summary": ("", "_sum", "_count")}


class Family:
    """One metric with all of its series: labels (a dict) and values."""

    def __init__(self, name, kind, help_text):
        self.name, self.kind, self.help_text = name, kind, help_text
        self.samples = []  # (sample name, labels, value)

    def series(self, suffix="", **labels):
        return [(found, value) for name, found, value in self.samples
                if name == self.name + suffix
                and labels.items() <= found.items()]

    def value(self, suffix="", **labels):
        """Of the only series with these labels."""
        found = self.series(suffix, **labels)
        assert len(found) == 1, f"{self.name}{suffix}{labels}: {found}"
        return found[0][1]

    def sum(self, suffix="", **labels):
        return sum(value for _, value in self.series(suffix, **labels))

    def label_names(self):
        return {frozenset(labels) - {"le"} for _, labels, _ in self.samples}


def parse(text):
    """{name: Family}"""
    families, helps = {}, {}
    for line in text.splitlines():
        if line.startswith("# HELP "):
            _, _, name, text_of = (line + " ").split(" ", 3)
            helps[name] = text_of.strip()
        elif line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            assert name not in families, f"{name} stands twice"
            families[name] = Family(name, kind, helps.get(name, ""))
        elif line and not line.startswith("#"):
            name, labels, value = _SAMPLE.match(line).groups()
            family = _family_of(families, name)
            family.samples.append(
                (name, dict(_LABEL.findall(labels or "")), float(value)))
    return families


def _family_of(families, sample):
    for name, family in families.items():
        for suffix in _SUFFIXES.get(family.kind, ("",)):
            if sample == name + suffix:
                return family
    raise AssertionError(f"{sample} has no # TYPE line before it")


def scrape(server):
    """The families that `server` shows now."""
    status, text = server.http("/metrics")
    assert status == 200, text
    return parse(text)


def num_lookups(server):
    """The calls of Lookup that `server` has answered."""
    return scrape(server)["grpc_server_handled_total"].value(
        grpc_method="Lookup", grpc_code="OK")
