"""What a server takes up while it is under load, and whether it is level."""

import dataclasses
import os
import pathlib
import threading
import time

import numpy as np

from tests.integration.harness import exposition

MIB = 2 ** 20
MIN_SAMPLES = 4


@dataclasses.dataclass(frozen=True)
class Sample:
    seconds: float  # since the load began
    resident_bytes: int
    descriptors: int
    threads: int
    inflight_requests: int
    # Of requests and replies: those of a reply are given back with its memory,
    # so that 0 means that every buffer is back in its pool.
    inflight_bytes: int
    queued: int


FIELDS = [field.name for field in dataclasses.fields(Sample)]


def take_sample(server, seconds):
    process = pathlib.Path(f"/proc/{server.process.pid}")
    status = dict(line.split(":", 1) for line in
                  (process / "status").read_text().splitlines())
    # Before the scrape, which takes a connection.
    descriptors = len(os.listdir(process / "fd"))
    metrics = exposition.scrape(server)
    gauges = [int(metrics[f"gatherd_{name}"].value()) for name in (
        "inflight_requests", "inflight_bytes", "queue_requests")]
    return Sample(seconds, int(status["VmRSS"].split()[0]) * 1024, descriptors,
                  int(status["Threads"]), *gauges)


class Sampler:
    """Takes samples at intervals, in a thread of its own."""

    def __init__(self, server, interval_s, on_sample):
        self.samples, self.failure = [], None
        self._stop = threading.Event()
        self._began = time.monotonic()

        def work():
            try:
                while not self._stop.wait(interval_s):
                    self.samples.append(take_sample(server, self.seconds()))
                    on_sample(self.samples[-1])
            except BaseException as error:
                self.failure = f"no sample: {type(error).__name__}: {error}"
        self._thread = threading.Thread(target=work)
        self._thread.start()

    def seconds(self):
        return time.monotonic() - self._began

    def stop(self):
        """All samples."""
        self._stop.set()
        self._thread.join()
        return self.samples


def rise(samples):
    """By how many bytes resident memory grew over the last half of the
    samples: the slope of the line through them times its length."""
    half = samples[len(samples) // 2:]
    seconds = np.array([sample.seconds for sample in half])
    sizes = np.array([sample.resident_bytes for sample in half], float)
    slope = np.polyfit(seconds - seconds[0], sizes, 1)[0]
    return slope * (seconds[-1] - seconds[0])


def memory_problems(samples, after, max_rise_bytes):
    """Texts; none if memory was level. `after`: when all load had ended."""
    if len(samples) < MIN_SAMPLES:
        return [f"{len(samples)} samples are too few"]
    found = []
    if (grown := rise(samples)) > max_rise_bytes:
        found.append(
            f"resident memory rose by {grown / MIB:.0f} MiB over the last half "
            f"of the load; allowed are {max_rise_bytes / MIB:.0f}")
    half = samples[len(samples) // 2]
    if (kept := after.resident_bytes
            - half.resident_bytes) > max_rise_bytes:
        found.append(
            f"{kept / MIB:.0f} MiB more are resident after the load than half "
            f"way through it; allowed are {max_rise_bytes / MIB:.0f}")
    return found


def rest_problems(before, after):
    """Texts; none if nothing is left of the load."""
    found = []
    if after.descriptors > before.descriptors:
        found.append(f"{after.descriptors} descriptors are open, "
                     f"{before.descriptors} before the load")
    for name in ("inflight_requests", "inflight_bytes", "queued"):
        if getattr(after, name) != 0:
            found.append(f"{name} is {getattr(after, name)} after the load")
    return found
