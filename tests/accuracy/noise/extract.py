#!/usr/bin/env python3
"""Takes each rank's own time, step by step, out of a report of a healthy recorded run.

    lockstep analyze RUN --json run.json
    tests/accuracy/noise/extract.py run.json "ddp.py, 2 ranks, Gloo; 2 shared cores; 2026-11-23" >tuning/ddp-2.csv

Own time is the step's window without what the rank waits for others and without exposed transfer: computing (compute),
loading data (data_wait) and all else that it does (host-bound, queued, copy, other). The first ten steps (start-up) and the last
one are left out, and so is every step that a rank has no figures of.
"""
import json
import sys

LEFT_OUT = 10


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with open(sys.argv[1]) as file:
        report = json.load(file)
    rows = {}
    for step in report["steps"]:
        if step["partition"] is not None:
            rows.setdefault(step["step"], {})[step["rank"]] = step["partition"]
    ranks = sorted({rank for row in rows.values() for rank in row})
    complete = [number for number in sorted(rows) if len(rows[number]) == len(ranks)][LEFT_OUT:-1]
    print(f"# {sys.argv[2]}")
    print("# A healthy run; nanoseconds of each step that are the rank's own, by tests/accuracy/noise/extract.py")
    print("rank,step,compute_ns,loading_ns,other_ns,transfer_ns")
    for rank in ranks:
        for number in complete:
            part = rows[number][rank]
            other = part["host_bound"] + part["queued"] + part["copy"] + part["other"]
            print(f"{rank},{number},{part['compute']},{part['data_wait']},{other},{part['transfer']}")


main()
