"""How long `lockstep analyze` takes for the overlap of a job's ranks, and how much memory, beside HolisticTraceAnalysis.

Both read the same Kineto files, one after the other, from the page cache; memory is the most that all processes of
each held at once, looked at fifty times a second. The overlap ratios that both find are compared rank by rank, with
HolisticTraceAnalysis' rounding to whole microseconds off (it makes gaps between kernels).

    compare_hta.py BUILD [--ranks 8] [--megabytes 200] [--rounds 3]

BUILD is a build folder with bin/lockstep and tools/write_kineto. Run with a Python that has HolisticTraceAnalysis 0.5.0
(`pip install HolisticTraceAnalysis==0.5.0`). Exits with 1 where the figures differ or the ratios miss the goals.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time

LEAST_SPEEDUP = 50
MOST_MEMORY = 0.1
PAGE = os.sysconf("SC_PAGE_SIZE")
HTA = """
import json, logging, sys
logging.disable(logging.CRITICAL)
from hta.trace_analysis import TraceAnalysis
files = {rank: path for rank, path in enumerate(sys.argv[2:])}
overlap = TraceAnalysis(trace_files=files, trace_dir=sys.argv[1]).get_comm_comp_overlap(visualize=False)
print(json.dumps({int(row["rank"]): float(row["comp_comm_overlap_pctg"]) / 100 for _, row in overlap.iterrows()}))
"""


def family(root):
    """The process and all below it."""
    children = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                stat = pathlib.Path("/proc", entry, "stat").read_text()
            except OSError:
                continue
            children.setdefault(int(stat.rsplit(")", 1)[1].split()[1]), []).append(int(entry))
    found, at = [root], 0
    while at < len(found):
        found += children.get(found[at], [])
        at += 1
    return found


def resident(processes):
    total = 0
    for process in processes:
        try:
            total += int(pathlib.Path(f"/proc/{process}/statm").read_text().split()[1]) * PAGE
        except (OSError, IndexError):
            pass
    return total


def measure(command, environment=None):
    """Its output, seconds, and the most bytes that its processes held at once."""
    begin = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    most, over = 0, threading.Event()

    def watch():
        nonlocal most
        while not over.wait(0.02):
            most = max(most, resident(family(process.pid)))

    watcher = threading.Thread(target=watch)
    watcher.start()
    output = process.communicate()[0]
    seconds = time.monotonic() - begin
    over.set()
    watcher.join()
    if process.returncode != 0:
        sys.exit(f"{command[0]} exited with {process.returncode}")
    return output, seconds, most


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--ranks", type=int, default=8)
    parser.add_argument("--megabytes", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=3, help="of ours; HolisticTraceAnalysis runs once")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        files = [f"{folder}/rank-{rank}.json" for rank in range(arguments.ranks)]
        for rank, path in enumerate(files):
            subprocess.run([arguments.build / "tools/write_kineto", path, str(arguments.megabytes), str(rank),
                            str(arguments.ranks)], check=True, stdout=subprocess.DEVNULL)
        print(f"{arguments.ranks} files of {os.path.getsize(files[0]) / 1e6:.0f} MB", flush=True)
        ours = [measure([arguments.build / "bin/lockstep", "analyze", "--json", "-", *files])
                for _ in range(arguments.rounds)]
        report = json.loads(ours[0][0])
        seconds, memory = sorted(run[1] for run in ours)[len(ours) // 2], max(run[2] for run in ours)
        print(f"lockstep analyze: {seconds:.2f} s, {memory / 1e6:.0f} MB", flush=True)
        output, their_seconds, their_memory = measure([sys.executable, "-c", HTA, folder, *files],
                                                        {**os.environ, "HTA_DISABLE_NS_ROUNDING": "1"})
    theirs = {int(rank): ratio for rank, ratio in json.loads(output.splitlines()[-1]).items()}
    print(f"HolisticTraceAnalysis: {their_seconds:.2f} s, {their_memory / 1e6:.0f} MB")
    print(f"{their_seconds / seconds:.0f} times as fast, {memory / their_memory:.3f} of the memory")
    differ = [(rank["rank"], rank["overlap_ratio"], theirs[rank["rank"]]) for rank in report["ranks"]
              if abs(rank["overlap_ratio"] - theirs[rank["rank"]]) > 1e-3]
    for rank, one, other in differ:
        print(f"rank {rank}: overlap {one:.4f}, HolisticTraceAnalysis says {other:.4f}")
    return 1 if differ or their_seconds < LEAST_SPEEDUP * seconds or memory > MOST_MEMORY * their_memory else 0


if __name__ == "__main__":
    sys.exit(main())
