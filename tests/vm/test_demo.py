# SPDX-License-Identifier: Apache-2.0
"""Does the demo show what it says? Its three acts, played once, judged here from what they left."""
import functools
import json
import os
import shutil
import subprocess

from lib import Result, check, clean, equal, limit, violated

PACK = "/with/estate"
PLAY = "/with/demo/play.py"
ATTEMPTS = [
    ("fs.read", "/etc/shadow"),
    ("fs.write", "/workdir/notes.txt"),
    ("egress", "198.51.100.7:443/tcp"),
    ("egress", "198.51.100.9:9000/udp"),
    ("exec", "/usr/bin/id"),
]


def read_act(folder, name):
    with open(f"{folder}/{name}.out", encoding="utf-8") as file:
        lines = file.read().splitlines()
    with open(f"{folder}/{name}.ndjson", encoding="utf-8") as file:
        events = [json.loads(line) for line in file]
    return Result(int(lines[-1].split()[1]), "\n".join(lines[:-1]), "", events)


def play(folder, pack, *options):
    """Plays the demo with `pack`; its exit code, its output and its acts."""
    check(os.path.exists(PLAY) and os.path.exists(PACK),
          "the VM lacks the demo: --with docs/demo/estate --with scripts/demo")
    os.makedirs(folder)
    done = subprocess.run(["unshare", "--mount", "--net", "python3", PLAY, "--pack", pack, "--keep",
                           folder, *options], capture_output=True, text=True, timeout=200, check=False)
    acts = {name[:-4]: read_act(folder, name[:-4]) for name in os.listdir(folder)
            if name.endswith(".out")}
    return done.returncode, done.stdout + done.stderr, acts


@functools.lru_cache(maxsize=1)
def played():
    shutil.rmtree("/srv/demo", ignore_errors=True)
    return play("/srv/demo", PACK)


def traces():
    with open("/proc/mounts", encoding="utf-8") as file:
        mounts = file.read()
    return sorted(os.listdir("/tmp")), mounts


def answers(act):
    return [line.split(" -> ")[1] for line in act.out.splitlines() if " -> " in line]


@limit(240)
def test_comes_as_it_must(box):
    """The demo itself finds nothing wrong and leaves no file and no mount."""
    before = traces()
    code, output, _ = played()
    box.notes.append(output)
    equal(code, 0, "exit code")
    check("WRONG" not in output, "an outcome is wrong")
    equal(traces(), before, "files in /tmp and mounts")


@limit(240)
def test_honest_agent_meets_no_refusal(box):
    """The honest agent does its work: exit 0, and no event between its start and its end."""
    _, output, acts = played()
    box.notes.append(output)
    clean(acts["honest"])
    equal([e["kind"] for e in acts["honest"].events], ["run_started", "run_completed"], "events")
    check("report written" in acts["honest"].out, "no report")


@limit(240)
def test_turned_agent_is_refused(box):
    """Each of the turned agent's attempts gets the errno of its surface."""
    _, output, acts = played()
    box.notes.append(output)
    equal(answers(acts["turned"]), ["ENOENT", "EACCES", "ECONNREFUSED", "ECONNREFUSED", "EACCES"],
          "answers")
    check("report written" in acts["turned"].out, "the agent did not go on")


@limit(240)
def test_each_refusal_is_told(box):
    """Exit 3, and one event for each attempt that names the resource, and `no match`."""
    _, output, acts = played()
    box.notes.append(output)
    violated(acts["turned"], *ATTEMPTS)
    told = [(v["surface"], v["requested"]) for v in acts["turned"].violations]
    equal(told, ATTEMPTS, "violations, in their order")
    equal([v["errno"] for v in acts["turned"].violations], answers(acts["turned"]), "errnos")
    equal(acts["turned"].probes, [], "probes")


@limit(240)
def test_watching_refuses_nothing(box):
    """With --audit the same attempts succeed, and each has an event that says would_deny."""
    _, output, acts = played()
    box.notes.append(output)
    equal(acts["watched"].code, 0, "exit code")
    check(all(a.startswith("done: ") for a in answers(acts["watched"])), "something was refused")
    equal(len(answers(acts["watched"])), len(ATTEMPTS), "answers")
    check(all(v["would_deny"] for v in acts["watched"].violations), "an event lacks would_deny")
    told = {(v["surface"], v["requested"]) for v in acts["watched"].violations}
    check(told >= set(ATTEMPTS), f"not told: {set(ATTEMPTS) - told}")


@limit(240)
def test_declared_attempts_are_granted(box):
    """What the turned agent tries, a manifest that declares it grants: exit 0, no violation."""
    pack = os.path.join(box.root, "generous")
    shutil.copytree(PACK, pack)
    with open(f"{pack}/soyapack.yaml", "a", encoding="utf-8") as file:
        file.write("      - /workdir/notes.txt\n    exec: [id]\n")
    with open(f"{pack}/soyapack.yaml", encoding="utf-8") as file:
        text = file.read()
    more = ("      - {host: collector.example, port: 443, proto: https}\n"
            "      - {host: 198.51.100.9, port: 9000, proto: quic}\n"
            "    fs_read:\n      - /etc/shadow\n")
    box.file("generous/soyapack.yaml", text.replace("    fs_read:\n", more))
    _, output, acts = play(os.path.join(box.root, "kept"), pack, "--only", "turned")
    box.notes.append(output)
    check(all(a.startswith("done: ") for a in answers(acts["turned"])), "something was refused")
    equal(len(answers(acts["turned"])), len(ATTEMPTS), "answers")
    clean(acts["turned"])
