"""The metrics and labels that PromQL text asks for."""

import re

# A metric of the server, as recorded series have none of these prefixes.
_SELECTOR = re.compile(
    r"(?<![\w:])((?:gatherd|grpc_server|process)_\w+)(?:\{([^}]*)\})?")
_MATCHER = re.compile(r'(\w+)\s*(=~|!~|!=|=)\s*"([^"]*)"')
_PARTS = ("_bucket", "_sum", "_count")

# Labels that Prometheus adds to those of the server.
TARGET_LABELS = {"job", "instance", "namespace", "pod"}

# Labels whose values the configuration or the machine decides.
OPEN_LABELS = {"table", "tier", "device", "store", "operation", "backend"}

# What the contract says of families that have no series on the CPU backend
# without a store: the labels, and their values where these are fixed.
_WITHOUT_SERIES = {
    "gatherd_device_rows_read_total": {
        "device": None, "locality": {"local", "remote"}},
    "gatherd_device_memory_bytes": {"device": None, "state": {"used", "free"}},
    "gatherd_store_duration_seconds": {"store": None, "operation": None},
    "gatherd_store_errors_total": {"store": None, "operation": None},
}


def selectors(expression):
    """[(metric, [(label, operator, value)])] of an expression or a text."""
    return [(name, _MATCHER.findall(matchers or ""))
            for name, matchers in _SELECTOR.findall(expression)]


def family_of(families, name):
    """The family that a series of this name belongs to, or None."""
    if name in families:
        return families[name]
    for part in _PARTS:
        family = families.get(name.removesuffix(part))
        if name.endswith(part) and family and family.kind == "histogram":
            return family
    return None


def values_of(family, label):
    """The values that a label may have; None: any; empty: no such label."""
    if not family.samples:
        return _WITHOUT_SERIES[family.name].get(label, set())
    values = {labels.get(label) for _, labels, _ in family.samples} - {None}
    return None if values and label in OPEN_LABELS else values


def faults(expression, families):
    """What an expression asks for that `families` cannot have."""
    found = []
    for name, matchers in selectors(expression):
        family = family_of(families, name)
        if family is None:
            found.append(f"no metric {name}")
            continue
        for label, operator, value in matchers:
            if label in TARGET_LABELS | {"le"}:
                continue
            values = values_of(family, label)
            if values == set():
                found.append(f"{name} has no label {label}")
            elif (values is not None and operator == "=" and "$" not in value
                  and value not in values):
                found.append(f"{name} has no {label}={value}")
    return found
