#!/usr/bin/env python3
"""Makes docs/accuracy.md of the results that scripts/accuracy counted: page.py FOLDER >docs/accuracy.md

FOLDER (tests/accuracy/results) holds null-held_out.json, as_drawn-held_out.json, planted-held_out.json, kinds-held_out.json,
work-held_out.json (lockstep_accuracy), real.json and gpu.json (real.py) and about.json (keep.py); what is missing is said to be not measured.
"""
import collections
import json
import pathlib
import sys

sys.dont_write_bytecode = True
from real import PROGRAMS  # noqa: E402

SIMULATED = "simulated (GPU-like and CPU-like in turn; no backend)"
REAL = "CPU, Gloo"
GPU = "GPU, NCCL"
FAULTS = {
    "compute": "a rank computes longer",
    "loader": "a rank's batches come later",
    "host": "a rank launches its work later",
    "link": "a rank's transfers take longer",
    "periodic": "in every tenth step a rank computes longer (ten times the effect)",
    "growing": "a rank computes longer, from nothing at the beginning to twice the effect at the end",
    "changing": "in each step another rank computes longer: right is that ranks take turns, and nobody accused",
    "midway": "from a step in the middle of the run on a rank computes longer, by the effect in each of these steps",
}


def load(path):
    return json.loads(path.read_text()) if path.exists() else None


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def percent(part, whole):
    return f"{100 * part / whole:.0f} %" if whole else "–"


def level_name(level):
    return f"{100 * level:.0f} %" if level else "as recorded"


def accused_table(null):
    """Rows of ranks, columns of steps: how many were accused."""
    steps = sorted({cell["steps"] for cell in null["cells"]})
    cells = {(cell["ranks"], cell["steps"]): cell for cell in null["cells"]}
    rows = []
    for ranks in sorted({cell["ranks"] for cell in null["cells"]}):
        row = [ranks, SIMULATED]
        for step in steps:
            cell = cells.get((ranks, step))
            row.append(f"{cell['accused']} of {cell['jobs']}" if cell else "not measured: `--full` does")
        rows.append(row)
    return table(["ranks", "device and backend", *(f"{step} steps" for step in steps)], rows)


def as_drawn_part(null):
    if not null:
        return "Not measured: `scripts/accuracy` counts them.\n"
    pooled = null["pooled"]
    return accused_table(null) + (f"\nAll together {pooled['accused']} of {pooled['jobs']}: "
                                  f"{100 * pooled['accused'] / pooled['jobs']:.1f} %.\n")


def null_part(null):
    if not null:
        return "Not measured: `scripts/accuracy` counts them.\n"
    text = accused_table(null)
    steps = sorted({cell["steps"] for cell in null["cells"]})
    for ranks in (2, 8, 64):
        text += f"| {ranks} | {GPU} |" + " not measured |" * len(steps) + "\n"
    pooled = null["pooled"]
    text += (f"\nAll together {pooled['accused']} of {pooled['jobs']} healthy jobs were accused: "
             f"{100 * pooled['accused'] / pooled['jobs']:.2f} %, and with 95 % confidence at most "
             f"{100 * pooled['upper_bound']:.2f} %. The goal: at most 5 of 500 in a cell (two cells may be above, none above "
             "10), and an upper bound of 1 %.\n\n")
    by = collections.Counter()
    for cell in null["cells"]:
        by.update(cell["accused_by"])
    if by:
        text += "False accusations by what the job was made of:\n\n"
        text += table(["job", "accused"], sorted(by.items(), key=lambda item: -item[1])) + "\n"
    examples = [f"{cell['ranks']} ranks, {cell['steps']} steps, {example}" for cell in null["cells"] for example in cell["examples"]]
    if examples:
        text += "The first of them:\n\n" + "\n".join(f"- {example}" for example in examples[:8]) + "\n\n"
    text += "What else is said of these healthy jobs (jobs that have the finding; figures of all cells together):\n\n"
    findings = collections.Counter()
    for cell in null["cells"]:
        findings.update(cell["findings"])
    text += table(["finding", "jobs"], [[f"`{code}`", count] for code, count in findings.most_common()]) if findings else "nothing.\n"
    return text


def planted_part(planted):
    if not planted:
        return "Not measured: `scripts/accuracy` counts them.\n"
    text = ""
    cells = planted["cells"]
    for fault, words in FAULTS.items():
        of_fault = [cell for cell in cells if cell["fault"] == fault]
        if not of_fault:
            continue
        effects = sorted({cell["effect"] for cell in of_fault})
        text += f"### {fault}: {words}\n\n"
        rows = []
        keys = sorted({(cell["noise_level"] or 9, cell["noise_level"], cell["ranks"], cell["steps"]) for cell in of_fault})
        for _, level, ranks, steps in keys:
            row = ["simulated", level_name(level), ranks, steps]
            for effect in effects:
                cell = [c for c in of_fault if (c["noise_level"], c["ranks"], c["steps"], c["effect"]) == (level, ranks, steps, effect)]
                if not cell:
                    row.append("–")
                    continue
                cell = cell[0]
                wrong = f", {percent(cell['accused'], cell['jobs'])} wrong" if cell["accused"] else ""
                row.append(f"{percent(cell['found'], cell['jobs'])} / {percent(cell['cause_named'], cell['found'])}{wrong}")
            rows.append(row)
        text += table(["device and backend", "noise", "ranks", "steps", *(f"{100 * effect:.0f} %" for effect in effects)], rows) + "\n"
    text += table(["what", "device and backend", "measured"],
                  [["all of the above", SIMULATED, f"{sum(cell['jobs'] for cell in cells)} jobs"],
                   ["all of the above", GPU, "not measured"]])
    return text


def phases_cell(rows):
    """What the program does beside training, and of how many runs the account says just that."""
    judged = [row for row in rows if "phases_named" in row]
    if not judged:
        return "not measured"
    wrong = [row for row in judged if not row["phases_named"]]
    text = f"{', '.join(judged[0]['phases_of_program']) or 'neither'}: {len(judged) - len(wrong)} of {len(judged)}"
    said = collections.Counter(", ".join(row["phases"]) or "none" for row in wrong).most_common()
    return text + (f" (else: {'; '.join(what for what, _ in said)})" if wrong else "")


def exact_sentences(rows):
    """Of all runs together: whether the sums are exact, and what the headline is over. Older results do not know."""
    judged = [row for row in rows if "account_exact" in row]
    if not judged:
        return "Whether sums are exact and headlines are over steady steps was not measured.\n"
    counts, failing = [], []
    for field, words in (("account_exact", "every rank's account sums exactly to the wall time"),
                         ("steps_exact", "the causes of every step sum exactly to its window"),
                         ("headline_steady", "the headline is over the steady steps")):
        wrong = [row for row in judged if not row[field]]
        counts.append(f"{words} in {len(judged) - len(wrong)}")
        failing += [f"{row['program']}, {row['fault'] or 'healthy'}, {row['cores']}, run {row['number']}" for row in wrong]
    text = f"Of {len(judged)} runs, healthy and with a fault planted, {counts[0]}, {counts[1]}, and {counts[2]}."
    pipelines = [row for row in rows if "pipeline_told" in row]
    untold = [f"{row['program']}, {row['fault'] or 'healthy'}, {row['cores']}, run {row['number']}" for row in pipelines if not row["pipeline_told"]]
    if pipelines:
        text += (f" Of {len(pipelines)} runs of pipelines stages, microbatches, chunks, schedule and its ideal bubble are told as the program has "
                 f"them in {len(pipelines) - len(untold)}.")
    failing += untold
    return text + (f" The others: {'; '.join(dict.fromkeys(failing))}." if failing else "") + "\n"


def newer_programs(results):
    """Programs of which the results know nothing yet."""
    return {name: about for name, (about, *_) in PROGRAMS.items() if name not in results["programs"]}


def real_part(real):
    if not real:
        return "Not measured: `scripts/accuracy --real` records them.\n"
    text = "### Healthy\n\n"
    rows, accused, runs = [], 0, 0
    for program, about in {**real["programs"], **newer_programs(real)}.items():
        of = [row for row in real["rows"] if row["program"] == program and not row["fault"]]
        measured = [row for row in of if "codes" in row]
        if not measured:
            why = of[0].get("not_measured", of[0].get("error", "")) if of else "not recorded"
            rows.append([f"{about} (`{program}.py`)", REAL, f"not measured: {why}", "", "", "", ""])
            continue
        wrong = [row for row in measured if row["accusations"]]
        accused, runs = accused + len(wrong), runs + len(measured)
        first = collections.Counter(row["first"] for row in measured).most_common(1)[0][0]
        said = f"**{wrong[0]['accusations'][0]}**" if wrong else first
        rows.append([f"{about} (`{program}.py`)", REAL, f"{len(wrong)} of {len(measured)}", said.replace("|", "\\|"),
                     real["sentences"][program], f"{sum(row['fits'] for row in measured)} of {len(measured)}", phases_cell(measured)])
    for name, why in real["not_measured"].items():
        rows.append([name, REAL, f"not measured: {why}", "", "", "", ""])
    text += table(["program", "device and backend", "runs with a rank or link accused", "said first (bold: an accusation)",
                   "a person would say", "the first fits that", "phases beside training: runs whose account names just these"], rows)
    text += f"\nAll together {accused} of {runs} healthy runs. The goal: at most 1 of 40.\n\n"
    text += exact_sentences(real["rows"]) + "\n### With a fault planted\n\n"
    rows, named, runs = [], collections.Counter(), collections.Counter()
    for fault, told in real["faults"].items():
        for program in real["programs"]:
            for cores in ("quiet", "busy"):
                of = [row for row in real["rows"] if (row["program"], row["fault"], row["cores"]) == (program, fault, cores)]
                if not of:
                    continue
                measured = [row for row in of if "codes" in row]
                if not measured:
                    why = of[0].get("not_measured", of[0].get("error"))
                    rows.append([told["planted"], program, cores, REAL, f"not measured: {why}", "", "", ""])
                    continue
                right = [row for row in measured if row["named"]]
                named[cores], runs[cores] = named[cores] + len(right), runs[cores] + len(measured)
                first = collections.Counter(row["first"] for row in measured).most_common(1)[0][0]
                rows.append([told["planted"], program, cores, REAL, f"{len(right)} of {len(measured)}",
                             f"{sum(row['named_before_load'] for row in measured)} of {len(measured)}",
                             f"{sum(row['found'] for row in measured)} of {len(measured)}", first.replace("|", "\\|")])
    text += table(["planted", "program", "cores", "device and backend", "first", "first, and before the load", "said at all",
                   "said first, most often"], rows)
    counts = [f"{named[cores]} of {runs[cores]} runs on {cores} cores" for cores in ("quiet", "busy") if runs[cores]]
    text += f"\nThe planted cause came first in {' and '.join(counts) or 'none, of none'}. The goal: 95 %. Busy cores are planted as well: that the "
    text += "ranks share their cores with other programs (`cores_shared`) is true and may stand before; where the planted cause stands "
    text += "even before that is the second count. Right is a finding about the planted rank (of a link: about none) of this kind "
    text += "(or one that accuses that rank and names the planted line of Python): "
    text += "; ".join(f"{fault}: " + ", ".join(f"`{right}`" for right in told["right"]) for fault, told in real["faults"].items()) + ".\n"
    return text


def gpu_part(gpu):
    if not gpu:
        return "Not measured: `scripts/accuracy --gpu` records them.\n"
    rows, accused, healthy, named, planted = [], 0, 0, 0, 0
    cases = list(dict.fromkeys((row["program"], row["fault"]) for row in gpu["rows"]))
    for program, fault in cases:
        of = [row for row in gpu["rows"] if (row["program"], row["fault"]) == (program, fault)]
        measured = [row for row in of if "codes" in row]
        what = gpu["faults"][fault]["planted"] if fault else "nothing"
        if not measured:
            why = of[0].get("not_measured", of[0].get("error"))
            rows.append([program, what, GPU, f"not measured: {why}", "", "", ""])
            continue
        wrong = sum(bool(row["accusations"]) for row in measured) if not fault else 0
        right = sum(row["named"] for row in measured) if fault else 0
        healthy, accused = healthy + len(measured) * (not fault), accused + wrong
        planted, named = planted + len(measured) * bool(fault), named + right
        first = collections.Counter(row["first"] for row in measured).most_common(1)[0][0]
        shared = f"{sum(row['shared_gpu'] for row in measured)} of {len(measured)}"
        rows.append([program, what, GPU, "" if fault else f"{wrong} of {len(measured)}", f"{right} of {len(measured)}" if fault else "", shared,
                     first.replace("|", "\\|")])
    healthy_programs = {program for program, fault in cases if not fault}
    for program in {**gpu["programs"], **newer_programs(gpu)}:
        if program not in healthy_programs:
            rows.append([program, "nothing", GPU, "not measured: not recorded", "", "", ""])
    text = table(["program", "planted", "device and backend", "runs with a rank or link accused", "the planted cause first",
                  "ranks shared a GPU", "said first, most often"], rows)
    text += f"\nAll together {accused} of {healthy} healthy runs were accused, and the planted cause came first in {named} of {planted}.\n"
    return text


def kinds_part(cases):
    if not cases:
        return "Not measured: `scripts/accuracy` counts them.\n"
    rows = []
    for cell in cases["cells"]:
        others = ", ".join(f"`{code}` {percent(count, cell['jobs'])}" for code, count in cell["findings"].items() if code != cell["code"])
        told_by = f", told by {cell['evidence']}" if cell.get("evidence") else ""
        rows.append([f"`{cell['code']}`{told_by}", "hand-made", cell["jobs"], percent(cell["found"], cell["jobs"]), others])
    return table(["planted", "device and backend", "jobs", "found", "and besides it"], rows)


def work_part(work):
    if not work:
        return "Not measured: `scripts/accuracy` counts them.\n"
    truth = {"even": "the same for all", "more": "more for the late rank", "uneven": "other ranks have more in other steps",
             "less": "less for the last rank", "besides": "the same for all, and more kernels for the late rank"}
    rows = []
    for cell in work["cells"]:
        # What kernels cannot tell: a report without a word about work is as right as it can be.
        planted = cell["planted"] + (" (sizes do not tell)" if cell["hidden"] else "")
        rows.append([planted, truth[cell["work"]], "simulated", cell["ranks"], cell["late"] or "none", cell["jobs"],
                     percent(cell["right"], cell["jobs"]), cell["false_work"], cell["wrongly_accused"]])
    text = table(["planted", "work", "device and backend", "ranks", "late", "jobs", "said as it is", "work said falsely",
                  "others accused"], rows)
    # In every job something may be said falsely: of the work, or of a rank that is not late.
    jobs, false, accused = (sum(cell[what] for cell in work["cells"]) for what in ("jobs", "false_work", "wrongly_accused"))
    examples = [f"{cell['planted']}, {cell['ranks']} ranks, {example}" for cell in work["cells"] for example in cell.get("examples", [])]
    said = "\nThe first of them:\n\n" + "\n".join(f"- {example}" for example in examples) + "\n" if examples else ""
    return text + (f"\nAll together: of {jobs} jobs {false} had something said of ranks' work that is not so, and {accused} a rank accused that is "
                   f"not late. GPU, NCCL: not measured.\n") + said


def confusion(null, planted, real, gpu, cases):
    counts, jobs, devices = collections.defaultdict(collections.Counter), collections.Counter(), {}
    for what in (null, planted):
        for cell in what["cells"] if what else []:
            name = "simulated: " + (cell["fault"] if cell["fault"] != "none" else "healthy")
            counts[name].update(cell["findings"])
            jobs[name] += cell["jobs"]
            devices[name] = "simulated"
    for what, device in ((real, REAL), (gpu, GPU)):
        for row in what["rows"] if what else []:
            if "codes" in row:
                where = "" if what is gpu else f" ({row['cores']} cores)"
                name = f"{'on a GPU' if what is gpu else 'real'}: {row['fault'] or 'healthy'}{where}"
                counts[name].update(set(row["codes"]))
                jobs[name] += 1
                devices[name] = device
    found = sorted({code for row in counts.values() for code in row})
    rows = [[name, devices[name], jobs[name], *(percent(row[code], jobs[name]) if row[code] else "" for code in found)] for name, row in counts.items()]
    text = table(["planted", "device and backend", "jobs", *(f"`{code}`" for code in found)], rows)
    text += "\nThe kinds that are not about who is late, each planted in small hand-made jobs whose durations vary by a fifth:\n\n"
    text += kinds_part(cases)
    text += "\nEvery kind of finding is planted, in these jobs or in those of the tables above: a test fails where one is not. "
    return text + "A kind that is newer than the figures has no row yet.\n"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1])
    null, as_drawn, planted, cases, work, real, gpu = (load(folder / name) for name in (
        "null-held_out.json", "as_drawn-held_out.json", "planted-held_out.json", "kinds-held_out.json", "work-held_out.json",
        "real.json", "gpu.json"))
    about = load(folder / "about.json") or {}
    made = {"simulated": about.get("null-held_out.json", {}), "planted": about.get("planted-held_out.json", {}),
            "as_drawn": about.get("as_drawn-held_out.json", {}), "kinds": about.get("kinds-held_out.json", {}),
            "work": about.get("work-held_out.json", {}),
            "real": about.get("real.json", {}), "gpu": about.get("gpu.json", {})}
    template = (pathlib.Path(__file__).parent / "page.md").read_text()
    noise = []
    for recording in (null or planted or {}).get("noise", []):
        noise.append([recording["description"], recording["ranks"], recording["steps"], f"{100 * recording['level']:.0f} %"])
    print(template.format(
        **{f"{part}_{what}": made[part].get(what, "not known") for part in made for what in ("date", "commit", "machine")},
        seed=(null or planted or {}).get("seed", "–"), noise=table(["recording", "ranks", "steps", "varies by"], noise),
        null=null_part(null), as_drawn=as_drawn_part(as_drawn), planted=planted_part(planted), work=work_part(work), real=real_part(real), gpu=gpu_part(gpu), confusion=confusion(null, planted, real, gpu, cases)), end="")


main()
