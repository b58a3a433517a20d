#!/usr/bin/env python3
"""Whether recording changes how often a program aborts at its end: runs it plain and recorded, by turns, counts how often a
process of it said "terminate called without an active exception", and says whether the two rates differ.

    tests/accuracy/aborts_at_exit.py --bin build/release/bin --pairs 150 -- torchrun --nproc-per-node 2 tests/accuracy/programs/gloo_at_exit.py

Every second pair begins with the recorded run. Ends with 1 where a run failed otherwise.
"""
import argparse
import math
import pathlib
import subprocess
import sys
import tempfile

ABORT = "terminate called without an active exception"
TIME_LIMIT = 300


def fisher(hits, runs, other_hits, other_runs):
    """Fisher's exact test, two-sided: the chance of a table at most as likely as this one, were both rates the same."""
    total, all_hits = runs + other_runs, hits + other_hits

    def chance(k):
        return math.comb(runs, k) * math.comb(other_runs, all_hits - k) / math.comb(total, all_hits)

    seen = chance(hits)
    possible = range(max(0, all_hits - other_runs), min(runs, all_hits) + 1)
    return min(1.0, sum(p for p in map(chance, possible) if p <= seen * (1 + 1e-9)))


def difference(hits, runs, other_hits, other_runs):
    """By how much the second rate is above the first, with 95 % confidence: Newcombe's interval of two Wilson intervals."""
    z = 1.959964

    def wilson(k, n):
        middle, half = k + z * z / 2, z * math.sqrt(k * (n - k) / n + z * z / 4)
        return (middle - half) / (n + z * z), (middle + half) / (n + z * z)

    rate, other = hits / runs, other_hits / other_runs
    (low, high), (other_low, other_high) = wilson(hits, runs), wilson(other_hits, other_runs)
    return (other - rate - math.hypot(other - other_low, high - rate), other - rate + math.hypot(other_high - other, rate - low))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default="build/release/bin", type=pathlib.Path, help="where lockstep is")
    parser.add_argument("--pairs", default=150, type=int, help="plain and recorded runs, each")
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()
    if options.pairs < 1:
        parser.error(f"--pairs {options.pairs}: at least 1")
    aborts = {"plain": 0, "recorded": 0}
    for pair in range(options.pairs):
        for arm in ("plain", "recorded") if pair % 2 == 0 else ("recorded", "plain"):
            with tempfile.TemporaryDirectory() as folder:
                record = [options.bin / "lockstep", "record", "--quiet", "-o", f"{folder}/run", "--"] if arm == "recorded" else []
                run = subprocess.run(record + options.command, capture_output=True, text=True, timeout=TIME_LIMIT, errors="replace")
            aborted = ABORT in run.stderr
            if run.returncode != 0 and not aborted:
                sys.exit(f"{arm}: exit code {run.returncode}\n{run.stderr}")
            aborts[arm] += aborted
        done = pair + 1
        print(f"\r{done} pairs: aborted {aborts['plain']} plain, {aborts['recorded']} recorded", end="", file=sys.stderr, flush=True)
    counts = (aborts["plain"], options.pairs, aborts["recorded"], options.pairs)
    low, high = difference(*counts)
    print(f"\naborted: {aborts['plain']} of {options.pairs} plain runs, {aborts['recorded']} of {options.pairs} recorded ones. "
          f"Fisher's exact test, two-sided: p = {fisher(*counts):.2f}; recorded minus plain with 95 % confidence: "
          f"{100 * low:+.0f} to {100 * high:+.0f} percentage points")


if __name__ == "__main__":
    main()
