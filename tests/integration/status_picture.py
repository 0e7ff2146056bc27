"""Takes docs/images/status.png anew: the status page under gatherbench.

    bazel build //server:gatherd //client:gatherbench //client:gatherctl
    python3 -m tests.integration.status_picture docs/images/status.png

from the root of the tree; some three minutes (--seconds). No test: what the page
shows is status_page_test's matter.
"""

import argparse
import subprocess
import tempfile
import time

from tests.integration.harness import browser
from tests.integration.harness.process import (
    Server, config_of, find_program, gatherctl, table_of)

WIDTH = 1218

# Of each table, the rows that there are to begin with.
ROWS = {"items": 800_000, "users": 100_000, "words": 50_000}
TABLES = [
    table_of("items", 64, ROWS["items"], data_type="float16"),
    table_of("users", 32, 2 * ROWS["users"]),
    table_of("words", 16, ROWS["words"], "dense", data_type="int8"),
]

# Calls a second, each for as long as the others: the charts shall have steps.
RATES = (300, 600, 1200, 700)


def bench(address, *flags):
    """gatherbench, started."""
    return subprocess.Popen(
        [find_program("client/gatherbench"), f"--address={address}", *flags],
        stdout=subprocess.DEVNULL)


def refused_calls(address):
    """What clients do wrong; in seconds of their own, so that all are listed."""
    for words in (("lookup", "item", "1"), ("lookup", "users_v2", "7", "8"),
                  ("erase", "clicks", "3")):
        gatherctl(*words, f"--address={address}")
        time.sleep(1)


def finish(process):
    """Waits for a gatherbench to end well."""
    if process.wait() != 0:
        raise RuntimeError(f"gatherbench ended with {process.returncode}")


def take(path, seconds):
    """Writes the picture after `seconds` of load."""
    with Server(config_of(TABLES)) as server, \
            tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        for table, rows in ROWS.items():
            finish(bench(server.address, f"--tables={table}", "--fill",
                         f"--rows={rows}", "--warmup=0s", "--duration=1s"))
        window = browser.Browser(folder)
        try:
            window.set_width(WIDTH, 900)
            window.open(f"http://{server.metrics_address}/")
            step = seconds / len(RATES)
            reads = bench(server.address, "--tables=items,words",
                          "--rates=" + ",".join(map(str, RATES)),
                          "--warmup=0s", f"--duration={step:.0f}s")
            writes = bench(server.address, "--tables=users",
                           "--keys-per-call=64", "--rate=50",
                           "--read-fraction=0.5", "--warmup=0s",
                           f"--rows={ROWS['users'] * 11 // 10}",
                           f"--duration={seconds}s")
            time.sleep(seconds - step)
            refused_calls(server.address)
            time.sleep(step / 2)
            window.screenshot(path)
            finish(reads)
            finish(writes)
        finally:
            window.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("picture", help="the PNG to write")
    parser.add_argument("--seconds", type=int, default=160)
    args = parser.parse_args()
    take(args.picture, args.seconds)


if __name__ == "__main__":
    main()
