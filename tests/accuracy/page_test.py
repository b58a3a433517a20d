"""page.py makes the page of any part of the results: all of them, or none."""
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
CELL = {"ranks": 8, "steps": 50, "fault": "none", "effect": 0, "noise_level": 0, "jobs": 500, "accused": 3, "found": 0,
        "cause_named": 0, "findings": {"straggler_persistent": 3}, "accused_by": {"gpu": 3}, "examples": ["job 1: x"], "seconds": 1}


def page(results):
    with tempfile.TemporaryDirectory() as folder:
        for name, result in results.items():
            (pathlib.Path(folder) / name).write_text(json.dumps(result))
        done = subprocess.run([sys.executable, str(HERE / "page.py"), folder], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout


def holds(text, *parts):
    for part in parts:
        assert part in text, f"not in the page: {part}"


holds(page({}), "Not measured: `scripts/accuracy` counts them.", "`scripts/accuracy --real` records them.")
null = {"seed": 7, "noise": [{"description": "a run", "ranks": 2, "steps": 99, "level": 0.25}], "cells": [CELL],
        "pooled": {"jobs": 500, "accused": 3, "upper_bound": 0.0154}}
as_drawn = {"cells": [{**CELL, "steps": 20, "accused": 30}], "pooled": {"jobs": 500, "accused": 30, "upper_bound": 0.08}}
planted = {"seed": 7, "noise": [], "cells": [{**CELL, "fault": "loader", "effect": 0.05, "noise_level": 0.02, "jobs": 100, "accused": 1,
                                             "found": 98, "cause_named": 49, "findings": {"data_loading": 100}}]}
# A run that saves and evaluates, of which one sum is wrong; and one of a program that saves nothing, which is said to.
EXACT = {"account_exact": True, "steps_exact": True, "headline_steady": True, "phases": ["checkpoint", "evaluation"],
         "phases_of_program": ["checkpoint", "evaluation"], "phases_named": True}
INEXACT = {**EXACT, "account_exact": False, "headline_steady": False, "phases": ["compilation"], "phases_named": False}
WRONG = {**EXACT, "phases": ["checkpoint"], "phases_of_program": [], "phases_named": False}
real = {"programs": {"ddp": "plain DDP", "other": "another"}, "not_measured": {"third": "there is none"},
        "sentences": {"ddp": "all is well", "other": ""},
        "faults": {"sleep": {"planted": "it sleeps", "right": ["late (blocked)"]}},
        "rows": [{"program": "ddp", "fault": None, "cores": "busy", "number": 0, "codes": ["jitter"], "accusations": [], "first": "ranks take turns",
                  "fits": True},
                 {"program": "ddp", "fault": "sleep", "cores": "quiet", "number": 0, "codes": ["jitter"], "accusations": [], "first": "x | y",
                  "named": False, "named_before_load": False, "found": True},
                 {"program": "other", "fault": None, "cores": "busy", "number": 0, "not_measured": "no module"}]}
timed = {**real, "rows": [{**real["rows"][0], **EXACT}, {**real["rows"][0], **INEXACT, "number": 1}, {**real["rows"][1], **EXACT}]}
holds(page({"real.json": timed}), "| all is well | 2 of 2 | checkpoint, evaluation: 1 of 2 (else: compilation) |",
      "Of 3 runs, healthy and with a fault planted, every rank's account sums exactly to the wall time in 2, the causes of every step sum "
      "exactly to its window in 3, and the headline is over the steady steps in 2. The others: ddp, healthy, busy, run 1.")
told = {**real, "rows": [{**real["rows"][0], **EXACT, "pipeline_told": True}, {**real["rows"][0], **EXACT, "number": 1, "pipeline_told": False}]}
holds(page({"real.json": told}), "Of 2 runs of pipelines stages, microbatches, chunks, schedule and its ideal bubble are told as the program has them in "
      "1. The others: ddp, healthy, busy, run 1.")
holds(page({"real.json": {**real, "rows": [{**real["rows"][0], **WRONG}]}}), "| 1 of 1 | neither: 0 of 1 (else: checkpoint) |",
      "over the steady steps in 1.\n")
holds(page({"real.json": {**real, "rows": []}}), "| plain DDP (`ddp.py`) | CPU, Gloo | not measured: not recorded |",
      "| DeepSpeed's PipelineModule, 1F1B (`deepspeed_pipeline.py`) | CPU, Gloo | not measured: not recorded |")
gpu = {**real, "rows": [{**row, "cores": "gpu", "shared_gpu": True} for row in real["rows"]]}
holds(page({"gpu.json": gpu}), "| ddp | nothing | GPU, NCCL | 0 of 1 |  | 1 of 1 | ranks take turns |", "| ddp | it sleeps | GPU, NCCL |  | 0 of 1 | 1 of 1 | x \\| y |",
      "All together 0 of 1 healthy runs were accused, and the planted cause came first in 0 of 1.", "| other | nothing | GPU, NCCL | not measured: no module |",
      "| deepspeed_pipeline | nothing | GPU, NCCL | not measured: not recorded |")
holds(page({}), "`scripts/accuracy --gpu` records them.")
WORK = {"planted": "a batch larger by 20 %", "work": "more", "hidden": False, "ranks": 4, "late": 1, "jobs": 200, "right": 190, "false_work": 1,
        "wrongly_accused": 2}
holds(page({"work-held_out.json": {"seed": 7, "cells": [WORK, {**WORK, "planted": "it persists", "hidden": True, "examples": ["job 7: rank 1 …"]}]}}),
      "- it persists, 4 ranks, job 7: rank 1 …",
      "| a batch larger by 20 % | more for the late rank | simulated | 4 | 1 | 200 | 95 % | 1 | 2 |", "| it persists (sizes do not tell) | more",
      "of 400 jobs 2 had something said of ranks' work that is not so, and 4 a rank accused that is not late.")
text = page({"null-held_out.json": null, "as_drawn-held_out.json": as_drawn, "planted-held_out.json": planted, "real.json": real})
holds(text, "| a run | 2 | 99 | 25 % |", "3 of 500", "at most 1.54 %", "All together 30 of 500: 6.0 %.", "| simulated | 2 % | 8 | 50 | 98 % / 50 %, 1 % wrong |",
      "| plain DDP (`ddp.py`) | CPU, Gloo | 0 of 1 | ranks take turns | all is well | 1 of 1 | not measured |", "Whether sums are exact and headlines are over steady steps was not measured.", "not measured: no module", "not measured: there is none",
      "came first in 0 of 1 runs on quiet cores. The goal", "sleep: `late (blocked)`.", "| ddp | quiet | CPU, Gloo | 0 of 1 | 0 of 1 | 1 of 1 | x", "x \\| y", "| simulated: loader | simulated | 100 |", "GPU, NCCL | not measured |")

# The page in docs/ is made of the results that are kept, and of nothing else.
ROOT = HERE.parent.parent
done = subprocess.run([sys.executable, str(HERE / "page.py"), str(HERE / "results")], capture_output=True, text=True)
assert done.returncode == 0, done.stderr
assert done.stdout == (ROOT / "docs/accuracy.md").read_text(), "scripts/accuracy --page was not run after a change of the results or of page.md"

# A part that was not measured stays; one that was says when, and from which commit.
with tempfile.TemporaryDirectory() as folder:
    measured, kept = pathlib.Path(folder) / "measured", pathlib.Path(folder) / "kept"
    measured.mkdir()
    for name, result, commit in (("real.json", real, "commit 1"), ("null-held_out.json", null, "commit 2"), ("null-held_out.json", null, "commit 3")):
        for before in measured.iterdir():
            before.unlink()
        (measured / name).write_text(json.dumps(result))
        subprocess.run([sys.executable, str(HERE / "keep.py"), str(measured), str(kept), commit], check=True)
    about = json.loads((kept / "about.json").read_text())
    assert {name: part["commit"] for name, part in about.items()} == {"real.json": "commit 1", "null-held_out.json": "commit 2"}, about
    assert json.loads((kept / "real.json").read_text()) == real
    assert "seconds" not in (kept / "null-held_out.json").read_text()
print("passed")
