"""Files in numpy's format for tests of loading: good, foreign and damaged."""

import os

import numpy as np


def save(folder, name, array, version=None):
    """Writes `array`; returns the name, as a configuration has it."""
    with open(os.path.join(folder, name), "wb") as file:
        np.lib.format.write_array(file, np.asarray(array), version)
    return name


def damage(folder, name, change):
    """Rewrites a file's bytes by change(bytes)."""
    path = os.path.join(folder, name)
    with open(path, "rb") as file:
        content = file.read()
    with open(path, "wb") as file:
        file.write(change(content))
