"""The lines and branches that the programs built in FOLDER have run, for each source: coverage.py FOLDER [SOURCE...]

gcov reads the counts of each object. A line or a branch counts as reached if one object has reached it: the sources of kernels/cpu
are compiled for each instruction set, and headers for each source that includes them. Branches of a line are compared by their
order, where two objects have the same number of them; else the object that has taken more stands for the line. The table goes
to FOLDER/coverage.txt, files with the most lines missed first; with SOURCEs, the numbers of the missed lines of these are
printed as well. The last line counts files; a file that no test reaches at all is a failure.
"""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

FOLDERS = ("formats/", "kernels/", "sim/", "experiments/", "web/")


def read(counts):
    """What gcov says of one file of counts: for each source its lines with their counts and branches."""
    out = subprocess.run(["gcov", "-t", "-j", "-b", str(counts)], capture_output=True, check=True).stdout
    return json.loads(out)["files"]


def merge(lines, found):
    """Add the lines that one object has for a source."""
    for line in found:
        taken = [branch["count"] > 0 for branch in line["branches"] if not branch["throw"]]
        reached, known = lines.get(line["line_number"], (False, []))
        if len(taken) == len(known):
            known = [a or b for a, b in zip(known, taken)]
        elif sum(taken) > sum(known) or not known:
            known = taken
        lines[line["line_number"]] = (reached or line["count"] > 0, known)


def main():
    """Print the table; the exit status is 1 if no test reaches some source."""
    folder = Path(sys.argv[1])
    sources = {}
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        objects = sorted((folder / "obj").rglob("*.gcno"))
        # an object that no program ran has no counts, but lines
        for files in pool.map(read, [(o.with_suffix(".gcda") if o.with_suffix(".gcda").exists() else o) for o in objects]):
            for file in files:
                name = os.path.relpath(file["file"]) if os.path.isabs(file["file"]) else file["file"]
                if name.startswith(FOLDERS):
                    merge(sources.setdefault(name, {}), file["lines"])
    rows, total = [], [0, 0, 0, 0]
    for name, lines in sources.items():
        reached = sum(line[0] for line in lines.values())
        branches = sum(len(line[1]) for line in lines.values())
        taken = sum(sum(line[1]) for line in lines.values())
        rows.append((len(lines) - reached, len(lines), branches - taken, branches, name))
        for i, number in enumerate((reached, len(lines), taken, branches)):
            total[i] += number
    rows.sort(key=lambda row: (-row[0], -row[2], row[4]))
    table = [f"{'missed':>6} {'lines':>6} {'missed':>6} {'branches':>8}  source"]
    table += [f"{a:6} {b:6} {c:6} {d:8}  {name}" for a, b, c, d, name in rows]
    (folder / "coverage.txt").write_text("\n".join(table) + "\n")
    print("\n".join(table))
    for name in sys.argv[2:]:
        missed = [str(n) for n, line in sorted(sources.get(name, {}).items()) if not line[0]]
        print(f"{name}: {' '.join(missed)}")
    failed = [row[4] for row in rows if row[0] == row[1] > 0]
    for name in failed:
        print("no test reaches", name)
    print(f"{100 * total[0] / total[1]:.1f}% of {total[1]} lines, {100 * total[2] / total[3]:.1f}% of {total[3]} branches, {len(rows)} sources")
    print(f"{len(rows) - len(failed)} passed, {len(failed)} failed, 0 skipped")
    return bool(failed)


sys.exit(main())
