#!/usr/bin/env python3
"""Takes what was measured into tests/accuracy/results, of which docs/accuracy.md is made: keep.py FROM RESULTS COMMIT

What FROM does not hold stays as it was measured before, so that one part can be measured anew without the others. Of each part
about.json says when, from which commit and on what machine it was measured.
"""
import datetime
import json
import os
import pathlib
import sys

PARTS = ("null-held_out.json", "as_drawn-held_out.json", "planted-held_out.json", "kinds-held_out.json", "work-held_out.json",
         "real.json", "gpu.json")


def lines_of(result):
    """JSON with one cell or run a line: what changed is seen in a diff, and the file is a third as long."""
    rows = "cells" if "cells" in result else "rows"
    head = {name: value for name, value in result.items() if name != rows}
    body = ",\n".join(json.dumps({name: value for name, value in row.items() if name != "seconds"}, ensure_ascii=False) for row in result[rows])
    return json.dumps(head, ensure_ascii=False)[:-1] + (", " if head else "") + f'"{rows}": [\n{body}\n]}}\n'


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    source, results = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    results.mkdir(parents=True, exist_ok=True)
    about_file = results / "about.json"
    about = json.loads(about_file.read_text()) if about_file.exists() else {}
    for part in PARTS:
        if not (source / part).exists():
            continue
        result = json.loads((source / part).read_text())
        machine = result.pop("machine", f"a machine with {os.cpu_count()} cores and no GPU")
        text = lines_of(result)
        kept = results / part
        if kept.exists() and kept.read_text() == text:
            continue
        kept.write_text(text)
        about[part] = {"date": datetime.date.fromtimestamp((source / part).stat().st_mtime).isoformat(), "commit": sys.argv[3],
                       "machine": machine}
    about_file.write_text(json.dumps(about, indent=1) + "\n")


main()
