#!/usr/bin/env python3
"""Records stock programs on 2 ranks (CPU and Gloo), healthy while --load other processes (two, unless the machine is busy by
itself) keep cores busy, and with a fault planted both so and on quiet cores. Judges what each report says first, whether its sums
are exact, whether it names the program's checkpoints and evaluation, and whether its headline is over steady steps.
scripts/accuracy --real runs it. With --device cuda (scripts/accuracy --gpu): on GPUs and NCCL, healthy and with a fault; ranks
share a GPU where there is but one.

    tests/accuracy/real.py --bin build/release/bin --python PYTHON --output FOLDER [--only CASES] [--repeat 5] [--judge-only]

For runs on quiet cores the machine is to have nothing else to do. Recordings that are in FOLDER already are not made again; every
run is analyzed again. Writes FOLDER/real.json, of GPUs FOLDER/gpu.json.
"""
import argparse
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
STEPS = "60"
TIME_LIMIT = 300

# name: what it is; the module that it needs besides torch; the sentence that a person who knows the program would write about
# the healthy job on these cores; and the findings of which the first may be without contradicting that sentence. All share
# their two cores with other programs (cores_shared), and all but the pipelines then take turns being late (jitter), or nobody
# can tell who is (imbalance).
BUSY = {"cores_shared", "jitter", "imbalance"}
PROGRAMS = {
    "ddp": ("plain DDP with a DataLoader", None,
            "the cores are busy; all gradients travel in one bucket, after backward", BUSY | {"buckets_too_large", "no_overlap"}),
    "fsdp2": ("FSDP2 (fully_shard)", None, "the cores are busy; all-gathers are in part waited for",
              BUSY | {"prefetch_shallow", "prefetch_off", "exposed_transfer"}),
    "tensor_parallel": ("tensor parallelism (DTensor)", None, "the cores are busy; each block waits for its all-reduces",
                        BUSY | {"exposed_transfer", "no_overlap"}),
    "pipeline": ("torch.distributed.pipelining, 1F1B", None,
                 "the cores are busy; four microbatches on two stages leave a fifth of the region idle",
                 {"cores_shared", "pipeline_bubble", "exposed_transfer"}),
    "pippy": ("PyTorch's pipeline() (PiPPy), traced and split, 1F1B", None,
              "the cores are busy; four microbatches on two stages leave a fifth of the region idle, and nothing is computed while messages travel",
              {"cores_shared", "pipeline_bubble", "exposed_transfer", "no_overlap"}),
    "deepspeed_pipeline": ("DeepSpeed's PipelineModule, 1F1B", "deepspeed",
                           "the cores are busy; four microbatches on two stages leave a fifth of the region idle, and nothing is computed while messages travel",
                           {"cores_shared", "pipeline_bubble", "exposed_transfer", "no_overlap"}),
    "hf_trainer": ("Hugging Face Trainer", "transformers", "the cores are busy; else evaluation alone costs much", BUSY | {"evaluation_long"}),
    "lightning_ddp": ("Lightning", "lightning",
                      "the cores are busy; gradients travel in one bucket, the Trainer's own Python costs time, and so does validation",
                      BUSY | {"buckets_too_large", "no_overlap", "idle_between_computations", "evaluation_long"}),
    "accelerate_loop": ("Accelerate", "accelerate", "the cores are busy; gradients travel in one bucket",
                        BUSY | {"buckets_too_large", "no_overlap"}),
    "accelerate_saving": ("Accelerate, saving and evaluating", "accelerate",
                          "the cores are busy; gradients travel in one bucket, and evaluation costs time",
                          BUSY | {"buckets_too_large", "no_overlap", "evaluation_long"}),
    "zero_optimizer": ("DDP with ZeroRedundancyOptimizer", None,
                       "the cores are busy; broadcasting the parameters after each step is in the open",
                       BUSY | {"exposed_transfer", "no_overlap"}),
    "deepspeed_zero1": ("DeepSpeed ZeRO-1", "deepspeed",
                        "the cores are busy; gradients are reduced after backward, and evaluation costs time",
                        BUSY | {"exposed_transfer", "no_overlap", "buckets_too_large", "evaluation_long"}),
    "torchtitan_fsdp2": ("torchtitan's Trainer, FSDP2", "torchtitan",
                         "the cores are busy; all-gathers are in part waited for",
                         BUSY | {"prefetch_shallow", "prefetch_off", "exposed_transfer"}),
    "torchtitan_interleaved": ("torchtitan's Trainer, two virtual stages a rank, Interleaved1F1B", "torchtitan",
                               "the cores are busy; four microbatches in two chunks a stage leave a ninth of the region idle",
                               {"cores_shared", "pipeline_bubble", "exposed_transfer"}),
    "megatron_ddp": ("Megatron-core GPT", "megatron.core", "the cores are busy; else nothing costs much", BUSY),
}
NOT_MEASURED = {}
# What programs, and what planted faults, do beside training: the run's account has to name it, and neither saving nor evaluating where
# there is none. (Some libraries compile by themselves: compilation that is named is not asked for.)
PHASES = {name: {"checkpoint", "evaluation"} for name in ("hf_trainer", "lightning_ddp", "accelerate_saving", "deepspeed_zero1")}
# What the programs of pipelines are made of; the ideal is their schedule's share of bubble, (p − 1) / (v · m + p − 1).
PIPELINES = {**{name: {"schedule": "1f1b", "stages": 2, "microbatches": 4, "chunks": 1, "bubble_ratio_ideal": 1 / 5}
                for name in ("pipeline", "pippy", "deepspeed_pipeline")},
             "torchtitan_interleaved": {"schedule": "interleaved", "stages": 2, "microbatches": 4, "chunks": 2,
                                        "bubble_ratio_ideal": 1 / 9}}
PHASES_OF_FAULTS = {"compile": {"compilation"}, "checkpoint": {"checkpoint"}}
# What is planted, the rank that the first finding has to accuse (None: none), what it has to be (code, and reason where that
# tells), and the programs in which it is planted. The load that keeps the cores busy is planted as well: `cores_shared` may stand
# before it, and is counted apart.
FAULTS = {
    "sleep": ("rank 1 sleeps 30 ms after each optimizer step", 1,
              [("straggler_persistent", "blocked"), ("blocked_in_compute", None)], ("ddp", "fsdp2", "pipeline")),
    "sleep_in_forward": ("rank 1 sleeps within its forward passes: 30 ms a step, 10 ms in each of a stage's four passes", 1,
                         [("straggler_persistent", "blocked"), ("blocked_in_compute", None)], ("ddp", "pipeline")),
    "busy_loop": ("rank 1 runs a loop of Python for 30 ms after each optimizer step", 1,
                  [("straggler_persistent", "host")], ("ddp", "fsdp2", "pipeline")),
    "extra_compute": ("rank 1 multiplies matrices before each optimizer step, a pipeline's stage beside its passes", 1,
                      [("straggler_persistent", "computes_longer")], ("ddp", "pipeline")),
    "more_layers": ("rank 1's stage has twice the layers", 1,
                    [("unbalanced_stages", None), ("straggler_persistent", "computes_longer"), ("straggler_persistent", "more_launches")],
                    ("pipeline",)),
    "slow_loader": ("rank 1's batches take 30 ms longer", 1, [("straggler_persistent", "loads_data")], ("ddp", "accelerate_loop")),
    "shaped_link": ("two network namespaces with links of 100 Mbit/s", None,
                    [("exposed_transfer", None), ("slow_link", None)], ("ddp", "fsdp2")),
    "pinned_core": ("rank 1 has one core, which four other processes keep busy", 1,
                    [("straggler_persistent", "waits_for_core")], ("ddp", "tensor_parallel", "pipeline")),
    "compile": ("rank 1 compiles something anew in every tenth step", 1, [("recompilation", None)], ("ddp",)),
    "checkpoint": ("rank 0 saves a checkpoint in every tenth step", 0, [("checkpoints_block", None)], ("ddp",)),
}


# Those that are planted on a GPU too: the others need a link or a core of their own.
ON_GPU = ("sleep", "sleep_in_forward", "busy_loop", "extra_compute", "more_layers", "slow_loader", "compile", "checkpoint")


def accuses(finding):
    """Whether a finding says that a rank or a link is at fault."""
    return finding["accuses"] in ("rank", "link")


def names(finding, fault):
    """Whether a finding names what was planted: the kind, why, and the rank; or the rank and the very line."""
    _, rank, right, _ = FAULTS[fault]
    is_right = any(finding["code"] == code and reason in (None, finding["reason"]) for code, reason in right)
    is_line = accuses(finding) and "(planted.py:" in finding["title"]
    return (is_right or is_line) and finding["rank"] == rank


class Load:
    """Processes that keep cores busy; they end with this one."""

    def __init__(self, count):
        self.count = count

    def __enter__(self):
        loop = "import os\nparent = os.getppid()\nwhile os.getppid() == parent:\n    for _ in range(10_000_000): pass"
        self.processes = [subprocess.Popen([sys.executable, "-c", loop]) for _ in range(self.count)]
        return self

    def __exit__(self, *_):
        for process in self.processes:
            process.kill()
            process.wait()


def command_of(options, program, fault):
    script = str(HERE / "programs" / f"{program}.py")
    # Two ranks of one GPU need what planted.py sets, whether or not a fault is planted.
    on_gpu = options.device == "cuda"
    planted = [str(HERE / "programs" / "planted.py"), fault or "none"] if (fault or on_gpu) and fault != "shaped_link" else []
    if fault == "shaped_link":
        return [str(ROOT / "scripts/scenarios/nodes"), "--nodes", "2", "--rate", "100mbit", "--", options.python, script, STEPS]
    return [options.python, "-m", "torch.distributed.run", "--nproc-per-node", "2",
            "--master-port", str(random.randint(20000, 30000)), *planted, script, STEPS]


def record(options, program, fault, load, folder):
    """None, or why there is no recording."""
    if (folder / "complete").exists():
        return None
    if options.judge_only:
        return "not recorded"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    environment = dict(os.environ, PATH=os.path.dirname(options.python) + ":" + os.environ["PATH"], PYTHONWARNINGS="ignore",
                       **({} if options.device == "cuda" else {"CUDA_VISIBLE_DEVICES": ""}),
                       TORCH_EXTENSIONS_DIR=str(options.output / "torch_extensions"), HF_HUB_OFFLINE="1", OMP_NUM_THREADS="1")
    with open(folder / "log", "w") as log, Load(load):
        job = subprocess.Popen([str(options.bin / "lockstep"), "record", "--quiet", "--force", "-o", str(folder / "run"), "--",
                                *command_of(options, program, fault)], stdout=log, stderr=log, env=environment,
                               start_new_session=True)
        try:
            code = job.wait(TIME_LIMIT)
        except subprocess.TimeoutExpired:
            os.killpg(job.pid, 15)
            job.wait()
            return f"did not end within {TIME_LIMIT} s"
    if code != 0:
        errors = [line for line in (folder / "log").read_text(errors="replace").splitlines() if re.search(r"Error|SKIPPED", line)]
        return (errors[0].strip() if errors else f"exit code {code}")[:160]
    (folder / "complete").touch()
    return None


def judge_times(report, text, program, fault):
    """What does not depend on findings: sums, phases, and what the headline is over."""
    account, steady = report["account"], report["steady"]
    windows = report["steps"] + report["ranks"] + (steady["ranks"] if steady else [])
    spent = {phase for phase in ("compilation", "checkpoint", "evaluation") if account["spent_ns"][phase] > 0}
    # What one rank does alone the others wait for, which is of that phase as well.
    on_all = {phase for phase in spent if all(rank["spent_ns"][phase] > 0 for rank in account["ranks"])}
    has = PHASES.get(program, set()) | PHASES_OF_FAULTS.get(fault, set())
    left_out = steady["left_out"] if steady else []
    all_steps = (steady["steps"] if steady else []) + [step for part in left_out for step in range(part["first"], part["last"] + 1)]
    # Steps that saved, evaluated or compiled are left out for that, and the text says how many remain.
    is_steady = steady is not None and sorted(all_steps) == sorted(report["run"]["steps"]) and \
        report["lateness"]["steps"] == len(steady["steps"]) and \
        (not has or any(part["reason"] in has for part in left_out)) and \
        (not left_out or f"All below is over {len(steady['steps'])} steady steps." in text)
    return {"account_exact": all(sum(rank["spent_ns"].values()) == account["wall_ns"] for rank in account["ranks"]),
            "steps_exact": all(sum(window["partition"].values()) == window["window_ns"] for window in windows),
            "phases": sorted(spent), "phases_of_program": sorted(has),
            "phases_named": has <= on_all and spent - has <= {"compilation"},
            "headline_steady": is_steady}


def is_pipeline_told(report, program):
    """Whether the report has the program's one pipeline, with its stages, microbatches and schedule."""
    told, made = report["pipeline"], PIPELINES[program]
    return len(told) == 1 and all(abs(told[0][key] - value) < 1e-9 if isinstance(value, float) else told[0][key] == value
                                  for key, value in made.items())


def judge(options, program, fault, folder):
    report = folder / "report.json"
    done = subprocess.run([str(options.bin / "lockstep"), "analyze", str(folder / "run"), "--width", "120", "--json", str(report)],
                          capture_output=True, text=True)
    (folder / "report.txt").write_text(done.stdout + done.stderr)
    if done.returncode != 0:
        return {"error": done.stderr.strip()[:160]}
    told = json.loads(report.read_text())
    findings = told["findings"]
    row = {"codes": [finding["code"] for finding in findings],
           "accusations": [finding["title"] for finding in findings if accuses(finding)],
           "first": findings[0]["title"] if findings else "nothing is found",
           **judge_times(told, done.stdout, program, fault)}
    if program in PIPELINES:
        row["pipeline_told"] = is_pipeline_told(told, program)
    besides = [finding for finding in findings if finding["code"] != "cores_shared"]
    if fault:
        row["named"] = bool(besides) and names(besides[0], fault)
        row["named_before_load"] = bool(findings) and names(findings[0], fault)
        row["found"] = any(names(finding, fault) for finding in findings)
        row["first"] = besides[0]["title"] if besides else row["first"]
    else:
        row["fits"] = not findings or findings[0]["code"] in PROGRAMS[program][3]
    if options.device == "cuda":
        row["shared_gpu"] = any(finding["code"] == "gpu_shared" for finding in findings)
    return row


def machine(options):
    """What the recordings were made on: noted beside them, so that they can be judged elsewhere."""
    note = options.output / "real" / "gpu.txt"
    if not options.judge_only:
        found = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"], capture_output=True, text=True)
        gpus = found.stdout.splitlines() or ["unknown GPU, unknown"]
        name, driver = gpus[0].rsplit(", ", 1)
        note.write_text(f"a machine with {len(gpus)} × {name}, driver {driver}, {os.cpu_count()} cores\n")
    return note.read_text().strip() if note.exists() else "a machine that is not known"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--python", required=True)
    parser.add_argument("--output", type=pathlib.Path, required=True)
    parser.add_argument("--only", default="", help="cases whose name matches this regular expression: PROGRAM-FAULT-CORES, as in ^ddp-healthy-")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu", help="cuda: on NCCL; ranks share the GPU where there is but one")
    parser.add_argument("--load", type=int, default=2, help="processes that keep cores busy; 0 where others do")
    parser.add_argument("--busy-repeat", type=int, default=3, help="as --repeat, of a fault on busy cores")
    parser.add_argument("--judge-only", action="store_true", help="record nothing: judge all recordings that are there")
    options = parser.parse_args()
    options.bin, options.output = options.bin.resolve(), options.output.resolve()
    if options.device == "cuda" and not options.judge_only:
        sees_gpu = subprocess.run([options.python, "-c", "import torch, sys; sys.exit(not torch.cuda.is_available())"])
        if sees_gpu.returncode != 0:
            parser.error(f"--device cuda: the torch of {options.python} sees no GPU; see what nvidia-smi says")
    rows = []
    planted = [(program, fault) for fault, (_, _, _, programs) in FAULTS.items() for program in programs]
    if options.device == "cuda":
        cases = [(program, None, "gpu") for program in PROGRAMS]
        cases += [(program, fault, "gpu") for program, fault in planted if fault in ON_GPU]
    else:
        cases = [(program, fault, "quiet") for program, fault in planted]
        cases += [(program, None, "busy") for program in PROGRAMS]
        cases += [(program, fault, "busy") for program, fault in planted]
    for program, fault, cores in cases:
        case = f"{program}-{fault or 'healthy'}-{cores}"
        if not re.search(options.only, case):
            continue
        of_case = options.output / "real" / case
        count = options.busy_repeat if fault and cores == "busy" else options.repeat
        recorded = len(list(of_case.glob("*/complete")))
        for number in range(max(1, recorded) if options.judge_only else count):
            folder = of_case / str(number)
            row = {"program": program, "fault": fault, "cores": cores, "number": number}
            problem = record(options, program, fault, options.load if cores == "busy" else 0, folder)
            row.update({"not_measured": problem} if problem else judge(options, program, fault, folder))
            rows.append(row)
            print(case, number, row.get("not_measured") or row.get("error") or
                  (f"named {row['named']}: " if fault else f"accused {len(row['accusations'])}: ") + row["first"], flush=True)
            if problem:
                break
    result = "gpu.json" if options.device == "cuda" else "real.json"
    (options.output / result).write_text(json.dumps({
        **({"machine": machine(options)} if options.device == "cuda" else {}),
        "programs": {name: about for name, (about, *_) in PROGRAMS.items()}, "not_measured": NOT_MEASURED,
        "sentences": {name: sentence for name, (_, _, sentence, _) in PROGRAMS.items()},
        "faults": {name: {"planted": planted, "right": [code + (f" ({reason})" if reason else "") for code, reason in right]}
                   for name, (planted, _, right, _) in FAULTS.items()},
        "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
