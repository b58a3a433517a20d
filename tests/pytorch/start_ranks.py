"""Starts a program once for each rank of a job on this machine, with the environment that torchrun gives it.

    python start_ranks.py RANKS PORT SCRIPT ARGUMENTS...

For tests in which nothing depends on torchrun itself: torchrun imports torch, which takes longer than most of their jobs.
Ends with the first exit code that is not 0, as torchrun does; the other ranks are then asked to end.
"""
import os
import subprocess
import sys


def main():
    ranks, port = int(sys.argv[1]), sys.argv[2]
    started = {}
    for rank in range(ranks):
        environment = dict(os.environ, RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(ranks),
                           LOCAL_WORLD_SIZE=str(ranks), MASTER_ADDR="127.0.0.1", MASTER_PORT=port)
        process = subprocess.Popen([sys.executable, *sys.argv[3:]], env=environment)
        started[process.pid] = process
    failed = 0
    while started:
        pid, status = os.wait()
        process = started.pop(pid, None)
        if process is None:
            continue
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0 and failed == 0:
            failed = process.returncode
            for other in started.values():
                other.terminate()
    # A signal's number as a shell has it.
    return failed if failed >= 0 else 128 - failed


if __name__ == "__main__":
    sys.exit(main())
