"""A soak: a server under every kind of load at once, watched all the time."""

import collections
import dataclasses
import json
import multiprocessing
import os
import queue
import random
import signal
import threading
import time

import numpy as np

from tests.integration.harness.process import Server
from tests.integration.soak import clients, levels, rough, tables

# How long whatever is in flight when the load ends may take.
END_TIMEOUT_S = 150
IDLE_TIMEOUT_S = 60


@dataclasses.dataclass(frozen=True)
class Options:
    seconds: float
    scale: int = 1  # of each kind of client
    sample_s: float = 5
    max_rise_bytes: int = 64 * levels.MIB


@dataclasses.dataclass
class Report:
    before: levels.Sample
    samples: list = dataclasses.field(default_factory=list)
    after: levels.Sample = None
    counts: collections.Counter = dataclasses.field(
        default_factory=collections.Counter)
    problems: list = dataclasses.field(default_factory=list)


def _run_role(role, shared, outcomes, args):
    """A child's main: puts its Counter, or the text of its failure."""
    try:
        outcomes.put(role(shared, *args))
    except BaseException as error:
        shared.stop.set()
        outcomes.put(f"{role.__name__}: {type(error).__name__}: {error}")


def _roles(scale):
    """[(function, arguments)]"""
    roles, seeds = [], iter(range(1, 1_000_000))
    for table in tables.VERSIONED:
        roles += [(clients.write, (next(seeds), table, np.arange(
            i, tables.NUM_KEYS, scale))) for i in range(scale)]
    for role in (clients.read, clients.read, clients.rewrite, rough.cut_off,
                 rough.read_slowly, rough.spoil):
        roles += [(role, (next(seeds),)) for _ in range(scale)]
    return roles


class _Killer(threading.Thread):
    """Starts clients and kills them in the midst of replies."""

    def __init__(self, context, shared, seed):
        super().__init__()
        self.counts, self.failure = collections.Counter(), None
        self._context, self._shared = context, shared
        self._rng = random.Random(seed)

    def run(self):
        try:
            while not self._shared.stop.is_set():
                self._kill_one()
        except BaseException as error:
            self._shared.stop.set()
            self.failure = f"killer: {type(error).__name__}: {error}"

    def _kill_one(self):
        has_replies = self._context.Event()
        victim = self._context.Process(target=rough.be_killed, args=(
            self._shared, self._rng.randrange(2 ** 32), has_replies))
        victim.start()
        try:
            while not has_replies.wait(0.1):
                if not victim.is_alive():
                    raise AssertionError("a client ended by itself")
                if self._shared.stop.is_set():
                    return
            time.sleep(self._rng.uniform(0, 0.3))
            if self._rng.random() < 0.3:  # a connection that nobody reads
                os.kill(victim.pid, signal.SIGSTOP)
                self._shared.stop.wait(self._rng.uniform(0.5, 3))
                self.counts["clients stopped"] += 1
            self.counts["clients killed"] += 1
        finally:
            victim.kill()
            victim.join()


class _Load:
    """All clients, from the first to the last call."""

    def __init__(self, shared, context, scale):
        self._shared = shared
        self._outcomes = context.Queue()
        self._children = [
            context.Process(target=_run_role,
                            args=(role, shared, self._outcomes, args))
            for role, args in _roles(scale)]
        self._killers = [_Killer(context, shared, 1000 + i)
                         for i in range(scale)]
        for child in self._children + self._killers:
            child.start()

    def end(self, report):
        """Stops everyone; adds counts and failures to the report."""
        self._shared.stop.set()
        deadline = time.monotonic() + END_TIMEOUT_S
        for _ in self._children:
            try:
                outcome = self._outcomes.get(
                    timeout=max(0, deadline - time.monotonic()))
            except queue.Empty:
                report.problems.append(
                    f"a client did not end within {END_TIMEOUT_S} s")
                break
            if isinstance(outcome, str):
                report.problems.append(outcome)
            else:
                report.counts.update(outcome)
        for killer in self._killers:
            killer.join()
            report.counts.update(killer.counts)
            if killer.failure:
                report.problems.append(killer.failure)
        for child in self._children:
            child.kill()
            child.join()


def _wait_for_rest(server, before, sampler_seconds):
    """The first sample that has nothing left of the load, else the last."""
    deadline = time.monotonic() + IDLE_TIMEOUT_S
    while True:
        sample = levels.take_sample(server, sampler_seconds())
        if (not levels.rest_problems(before, sample)
                or time.monotonic() > deadline):
            return sample
        time.sleep(0.2)


def log_problems(log):
    """Lines of a log in JSON that tell of errors, or that are no JSON."""
    found = []
    for line in log.splitlines():
        try:
            level = json.loads(line)["level"]
        except (ValueError, KeyError, TypeError):
            level = "none"
        if level not in ("debug", "info", "warning"):
            found.append(f"log: {line[:300]}")
    return found


def _finish(server, shared, report):
    """What must hold when all is over."""
    try:
        report.counts["rows checked"] += tables.check_all(shared)
    except Exception as error:
        report.problems.append(f"at the end: {type(error).__name__}: {error}")
    status, text = server.http("/readyz")
    if status != 200:
        report.problems.append(f"/readyz says {status} {text}")
    if (code := server.stop()) != 0:
        report.problems.append(f"gatherd ended with {code}")
    report.problems += log_problems(server.log())


def run(options, on_sample=lambda sample: None):
    """The Report of a soak of its own server."""
    # Its children have all modules from the start, and nothing of this process,
    # which speaks gRPC.
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([rough.__name__, clients.__name__])
    with Server(tables.config()) as server:
        shared = tables.make_shared(server, context)
        tables.first_write(shared)
        report = Report(levels.take_sample(server, 0))
        load = _Load(shared, context, options.scale)
        sampler = levels.Sampler(server, options.sample_s, on_sample)
        shared.stop.wait(options.seconds)
        report.samples = sampler.stop()
        load.end(report)
        report.after = _wait_for_rest(server, report.before, sampler.seconds)
        if sampler.failure:
            report.problems.append(sampler.failure)
        else:
            report.problems += levels.memory_problems(
                report.samples, report.after, options.max_rise_bytes)
        report.problems += levels.rest_problems(report.before, report.after)
        _finish(server, shared, report)
    return report
