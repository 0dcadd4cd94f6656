# SPDX-License-Identifier: Apache-2.0
"""What does each hook add to an operation of a process outside every run?"""
import json
import os
import shutil
import subprocess
import sys

PROGRAMS = ("operations_file", "operations_net", "operations_kernel")
PLACE = "/srv/bench/operations"

# Hooks that no process outside of a run passes.
ELSEWHERE = {
    "packet_egress": "attached to the cgroups of runs alone",
    "dump_objects": "called by comet when it fills a policy",
}


def counts():
    """[(hooks, operation, instructions, or -1 where this kernel has no such call)]"""
    found = []
    for program in PROGRAMS:
        shutil.rmtree(PLACE, ignore_errors=True)
        os.makedirs(PLACE)
        done = subprocess.run([f"/with/bench/{program}"], cwd=PLACE, capture_output=True,
                              text=True, check=True)
        subprocess.run(["umount", f"{PLACE}/mount"], stderr=subprocess.DEVNULL, check=False)
        if done.stderr:
            sys.exit(f"{program}: {done.stderr}")
        for line in done.stdout.splitlines():
            hooks, what, count, _ = line.split("|")
            found.append((hooks.split(","), what, int(count)))
    return found


def all_hooks():
    """{hook: is it there on this kernel?}, as `comet doctor` knows them."""
    report = json.loads(subprocess.run(["comet", "doctor", "--json"], capture_output=True,
                                       text=True, check=False).stdout)
    return {hook["program"].removeprefix("comet_"): hook["state"] == "present"
            for hook in report["hooks"]}


def table(before, after):
    """Prints, for each hook, an operation that passes it; ends if there is none for one of them."""
    print("  added to operations of processes outside every run, hook by hook:", flush=True)
    counted = set()
    for (hooks, what, plain), (_, _, loaded) in zip(before, after):
        counted |= set(hooks)
        figures = f"{plain:>8}  {loaded - plain:>+6}" if plain >= 0 else "   no such call "
        print(f"  {what:<40}{figures}  {', '.join(hooks)}", flush=True)
    missing = []
    for hook, present in all_hooks().items():
        if hook in ELSEWHERE:
            print(f"  {hook}: {ELSEWHERE[hook]}", flush=True)
        elif not present:
            print(f"  {hook}: not on this kernel", flush=True)
        elif hook not in counted:
            missing.append(hook)
    if missing:
        sys.exit(f"no operation in tests/bench passes {', '.join(missing)}")
