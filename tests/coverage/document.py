#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How does the coverage table look to a reader? document.py KERNEL.json... writes it to stdout.

Takes what tests/vm/coverage.py printed in a VM of each kernel.
"""
import json
import sys

INTRODUCTION = """# Coverage

Written by `make coverage`; not to be edited. One line is one *road*: one way from inside a run to
something that the manifest does not grant. Each road is tried for real on each kernel, and judged by
what the call answers, by the events, and by what is seen from outside afterwards: contents, names,
inodes, times, attributes, listeners, other processes.

What is tried, each in a process of its own:

- **undeclared**: on what the manifest does not name;
- **read-only**: on what it grants for reading alone;
- **granted**: on what it grants, where no manifest can grant this road;
- and its twin on what is declared, which must succeed, with no event.

Who tries it, in this order in the columns of the kernels:

1. root with all capabilities, in the host's namespaces: the LSM hooks are the only wall;
2. root as `comet run` starts an agent;
3. an ordinary user as `comet run` starts an agent, who owns all files concerned;
4. as 1, with the hooks on sockets and on capabilities switched off: the packet filter is the only
   wall. Tried on roads that send by IP.

What stands there:

| sign | meaning |
| --- | --- |
| H | the hooks refuse: the errno given, told by an event, no effect; the twin works |
| W | another wall or the kernel itself refuses before a hook is asked: no event, no effect |
| P | the packet filter lets nothing out, whatever the call answers; the twin works |
| C | as P, but listeners on the host itself get their copy: see *What the packet filter is not asked* |
| S | refused without an event, for the reason given |
| L | a documented limit: see *What is told all the same* |
| - | this kernel has no such call, or it is not tried so |
| ! | **open** |
"""
SIGNS = {"hook": "H", "wall": "W", "silent": "S", "leak": "L", "packets": "P", "own copy": "C",
         "absent": "-"}
PERSONAS = ("hooks", "root", "user", "packets")


def sign(cells):
    """Of one persona's cells of one row: the worst of them."""
    if not cells:
        return "-"
    if any(cell["why"] for cell in cells.values()):
        return "!"
    ways = [cell["how"] for side, cell in cells.items() if side != "declared"]
    for way in ("leak", "own copy", "silent", "wall", "packets", "hook"):  # untried: "-"
        if way in ways:
            return SIGNS[way]
    return "-"


def answer(row, side):
    """The errno that is expected, first what the kernels gave."""
    seen = [cells[side]["answer"] for cells in row["cells"].values()
            if side in cells and cells[side]["how"] in ("hook", "leak", "silent")]
    names = sorted(set(seen)) or row["answers"].get(side, [])
    return " ".join(names)


def write_table(tables):
    kernels = [table["kernel"] for table in tables]
    surfaces = {}
    for row in sorted(tables[-1]["rows"], key=lambda row: "leaks" in row["flags"]):
        surfaces.setdefault(row["surface"], []).append(row["name"])
    rows = [{row["name"]: row for row in table["rows"]} for table in tables]
    for surface, names in sorted(surfaces.items()):
        print(f"\n## {surface}: {len(names)} roads\n")
        print("| road | undeclared | read-only | granted | event | " + " | ".join(kernels) + " |")
        print("| --- " * (5 + len(kernels)) + "|")
        for name in names:
            last = rows[-1][name]
            cells = [name] + [answer(last, side) for side in ("hidden", "readable", "granted")]
            silent = {"leaks", "no-event"} & set(last["flags"])
            cells.append("none" if silent else last["op"] or "yes")
            for kernel in rows:
                cells.append("".join(sign(kernel[name]["cells"].get(p)) for p in PERSONAS))
            print("| " + " | ".join(cells) + " |")


def write_reasons(rows, flag, title, text):
    chosen = [row for row in rows if flag in row["flags"]]
    if not chosen:
        return
    print(f"\n## {title}\n\n{text}\n")
    reasons = {}
    for row in chosen:
        reasons.setdefault(row["why"], []).append(row["name"])
    for why, names in reasons.items():
        print(f"- {'; '.join(names)}: {why}.")


def main():
    tables = []
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8") as f:
            tables.append(json.load(f))
    rows = tables[-1]["rows"]
    print(INTRODUCTION, end="")
    sides = sum(len(row["answers"]) for row in rows)
    print(f"\n{len(rows)} roads, {sides} kinds of target on them.")
    write_table(tables)
    write_reasons(rows, "leaks", "What is told all the same",
                  "No hook sees what is asked for here. `isolation: container` hides the names: "
                  "what is not declared is not there. The pid namespace of a run hides the "
                  "processes outside.")
    write_reasons(rows, "own-copy", "What the packet filter is not asked",
                  "The hooks refuse it; the filter alone would not.")
    write_reasons(rows, "no-event", "What is refused without an event", "The call fails all the same.")


main()
