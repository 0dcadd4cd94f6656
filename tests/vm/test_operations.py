# SPDX-License-Identifier: Apache-2.0
"""How does a run end, for whom does it run, and what does it leave behind?"""
import json
import os
import signal
import subprocess
import time

from lib import CANARY, PROBES, check, clean, equal, limit, unchanged, variant, violated, wait
from life import CGROUPS, bpf, end_of, events_of, held, read, same, start, until

ACT = f"{PROBES}/act"
NET = f"{PROBES}/net"
ENDURE = f"{PROBES}/endure"


def test_exit_codes(box):
    """The command's own exit code comes through, and 128 plus the signal that ended it."""
    for code in 0, 1, 2, 3, 42, 125, 126, 127, 255:
        result = box.run(box.usual(), "/bin/sh", "-c", f"exit {code}")
        clean(result, code)
        equal(end_of(result)["status"], code, "status")
    for sig in signal.SIGTERM, signal.SIGKILL, signal.SIGSEGV:
        clean(box.run(box.usual(), "/bin/sh", "-c", f"kill -{sig:d} $$"), 128 + sig)


def test_signals_reach_the_agent(box):
    """Signals to Comet go to the agent, which may take them or be ended by them."""
    log = box.path("W/log")
    process = start(box, box.usual(), ENDURE, f"signals {log}")
    expected = "ready\n"
    until(lambda: os.path.exists(log) and read(log) == expected, "ready")
    for sig in signal.SIGINT, signal.SIGUSR1, signal.SIGHUP, signal.SIGQUIT, signal.SIGTERM:
        process.send_signal(sig)
        expected += f"{sig:d}\n"
        until(lambda: read(log) == expected, f"signal {sig:d}")
    out, _ = process.communicate(timeout=20)
    equal((process.returncode, out), (0, "ok\n"), "end")
    for sig in signal.SIGINT, signal.SIGTERM:
        ready = box.path(f"W/{sig:d}")
        process = start(box, box.usual(), "/bin/sh", "-c", f"echo > {ready}; while :; do :; done")
        wait(ready)
        process.send_signal(sig)
        process.communicate(timeout=20)
        equal(process.returncode, 128 + sig, "exit code")
        equal(events_of(process)[-1]["kind"], "run_completed", "last event")


def test_timeout(box):
    """At its timeout the whole run is dead, descendants too, and the exit code is 6."""
    beat = box.path("W/beat")
    before = time.monotonic()
    result = box.run(box.usual(programs=[ACT]), "/bin/sh", "-c",
                     f'trap "" TERM INT; {ACT} "daemon {beat}"; while :; do :; done',
                     options=["--timeout", "1.5"])
    took = time.monotonic() - before
    equal(result.code, 6, "exit code")
    check(1.5 <= took < 15, f"it took {took} s")
    end = end_of(result)
    equal((end["timed_out"], end["status"], end["ok"]), (True, None, False), "end")
    content = read(beat)
    check(content, "the descendant did not start")
    time.sleep(0.2)
    unchanged(beat, content)
    clean(box.run(box.usual(), "/bin/true", options=["--timeout", "60"]))


def test_audit(box):
    """In audit mode nothing is refused, and all that would have been is told."""
    x = box.listen(address="127.0.0.2")
    pack = box.usual()
    command = [ACT, f"read {box.s}", "run /usr/bin/id", "run /usr/bin/uname"]
    result = box.run(pack, *command, options=["--audit"])
    equal(result.out.splitlines(), [CANARY, "ok", "ok"], "answers")
    result = box.run(pack, NET, f"tcp {x.address} {x.port}", options=["--audit"])
    equal((result.code, result.out), (0, "ok\n"), "audit")
    check(b"connection" in x.settled(), "X was not reached")
    equal([(v["surface"], v["requested"], v["would_deny"]) for v in result.violations],
          [("egress", f"{x.address}:{x.port}/tcp", True)], "events")
    equal(end_of(result)["violations"], 1, "violations")
    equal(box.run(pack, "/bin/sh", "-c", f"read x < {box.s}; exit 5", options=["--audit"]).code, 5,
          "exit code")
    result = box.run(pack, *command)
    equal(result.out.splitlines(), ["ENOENT", "EACCES", "EACCES"], "answers without audit")
    equal(result.code, 3, "exit code without audit")


def test_kill_on_violation(box):
    """With --on-violation=kill the first violation ends the run; an ordinary probe does not."""
    kill = ["--on-violation=kill"]
    script = 'while read x; do :; done < "$0"; echo > "$1"'
    result = box.run(box.usual(), "/bin/sh", "-c", script, box.s, box.path("W/after"), options=kill)
    violated(result, ("fs.read", box.s))
    check(result.violations[0]["killed"], "the event does not say killed")
    check(not os.path.exists(box.path("W/after")), "the agent went on")
    result = box.run(box.usual(), ACT, "read /etc/hostname", f"read {box.path('W/ok')}",
                     options=kill)
    clean(result)
    equal(result.out.splitlines(), ["ENOENT", "fine"], "answers")
    equal([p["requested"] for p in result.probes], ["/etc/hostname"], "probes")


def test_json_result(box):
    """--json prints one object, which tells a violation from a command that itself exits 3."""
    def result_of(pack, *command, options=()):
        done = box.comet("run", "--json", *options, pack, "--", *command)
        answer = json.loads(done.out)
        equal(done.out.count("\n"), 1, "lines on standard output")
        return done.code, answer

    pack = box.usual()
    code, answer = result_of(pack, "/bin/sh", "-c", "echo one; echo two; echo bad >&2; exit 3")
    equal((code, answer["ok"], answer["exit"], answer["violations"], answer["audit"],
           answer["output"], answer["stderr"], answer["timed_out"]),
          (3, False, 3, 0, [], ["one", "two"], ["bad"], False), "exit 3")
    code, answer = result_of(pack, ACT, f"read {box.s}", "read /etc/hostname")
    equal((code, answer["ok"], answer["exit"], answer["violations"], answer["output"]),
          (3, False, 0, 1, ["ENOENT", "ENOENT"]), "violation")
    equal([(e["surface"], e["requested"], e["severity"]) for e in answer["audit"]],
          [("fs.read", box.s, "violation"), ("fs.read", "/etc/hostname", "info")], "audit")
    equal([box.s in e for e in answer["errors"]], [True], f"errors {answer['errors']}")
    check(set(answer["usage"]) == {"wall_ms", "vcpu_seconds"}, f"usage: {answer['usage']}")
    code, answer = result_of(pack, "/bin/true")
    equal((code, answer["ok"], answer["exit"], answer["errors"]), (0, True, 0, []), "success")
    code, answer = result_of(pack, "/bin/sh", "-c", "while :; do :; done",
                             options=["--timeout", "1"])
    equal((code, answer["ok"], answer["exit"], answer["timed_out"]), (6, False, None, True), "late")
    code, answer = result_of(box.path("no-such-pack"), "/bin/true")
    equal((code, answer["ok"], answer["exit"], len(answer["errors"])), (2, False, None, 1),
          "no pack")


def test_as_an_ordinary_user(box):
    """The agent runs as --user says, and by default as the user behind sudo."""
    os.chown(box.w, 1000, 1000)
    pack = box.usual(programs=[ACT])
    made = box.path("W/made")
    command = ["/bin/sh", "-c", f'echo "$HOME" > {made}; exec "$0" "$@"', ACT, "privileges",
               f"read {box.s}"]
    by_option = box.run(pack, *command, options=["--user", "agent"])
    equal(os.stat(made).st_uid, 1000, "owner of what the agent made")
    unchanged(made, "/home/agent\n")
    os.unlink(made)
    equal(by_option.out.splitlines(), ["uid-1000-nnp-1", "ENOENT"], "answers")
    violated(by_option, ("fs.read", box.s))
    equal(by_option.violations[0]["uid"], 1000, "uid of the event")
    done = subprocess.run(["sudo", "-u", "agent", "sudo", "comet", "run", "--quiet", pack, "--",
                           *command], capture_output=True, text=True, check=False, cwd="/")
    equal((done.returncode, done.stdout.splitlines()), (3, ["uid-1000-nnp-1", "ENOENT"]), "sudo")
    equal(os.stat(made).st_uid, 1000, "owner of what the agent made")
    equal(box.run(pack, ACT, "privileges").out, "uid-0-nnp-1\n", "without sudo")


def in_own_mounts(*steps):
    """comet in a mount namespace in which the steps have been taken."""
    return ["unshare", "--mount", "sh", "-c", " && ".join(steps) + ' && exec comet "$@"', "comet"]


def test_failures_to_start(box):
    """What keeps a run from starting has its own exit code and a reason, and nothing has run."""
    pack, marker = box.usual(), box.path("W/marker")
    box.file("bad.yaml", "spec_version: soyapack.v0\nkind: [\n")
    box.file("text", "no program\n")
    command = ["/bin/sh", "-c", f"echo > {marker}"]
    cases = [
        (2, ["comet", "run", box.path("bad.yaml"), "--", *command]),
        (2, ["comet", "run", box.path("missing.yaml"), "--", *command]),
        (2, ["comet", "run", "--no-such-option", pack, "--", *command]),
        (2, ["comet", "run", "--user", "no-such-user", pack, "--", *command]),
        (2, ["comet", "run", "--timeout", "0", pack, "--", *command]),
        (2, ["comet", "run", "--workdir", box.path("missing"), pack, "--", *command]),
        (2, ["comet", "run", pack, *command]),
        (2, ["comet", "run", pack, "--"]),
        (125, ["comet", "run", "--events", box.path("missing/events"), pack, "--", *command]),
        (125, ["setpriv", "--reuid", "1000", "--clear-groups", "comet", "run", pack, "--",
               *command]),
        (125, in_own_mounts(f"umount -l {CGROUPS}") + ["run", pack, "--", *command]),
        (126, ["comet", "run", pack, "--", box.path("text")]),
        (127, ["comet", "run", pack, "--", box.path("missing")]),
        (127, ["comet", "run", pack, "--", "no-such-program"]),
    ]
    left = sorted(os.listdir(CGROUPS))
    for code, line in cases:
        done = subprocess.run(line, capture_output=True, text=True, check=False, cwd="/")
        box.notes.append(f"$ {' '.join(line)}\nexit {done.returncode}\n{done.stderr}")
        equal(done.returncode, code, "exit code of " + " ".join(line[:8]))
        check(done.stderr.strip(), "no reason is given for " + " ".join(line[:8]))
        equal(done.stdout, "", "standard output")
        check(not os.path.exists(marker), "the command has run")
    equal(sorted(os.listdir(CGROUPS)), left, "cgroups")
    clean(box.run(pack, *command))
    check(os.path.exists(marker), "the command has not run")


def kill_comet(box, pack):
    """A run with a stubborn descendant whose comet is killed; until its cgroup is gone."""
    beat = box.path("W/beat")
    process = start(box, pack, "/bin/sh", "-c",
                    f'{ACT} "daemon {beat}"; echo > {box.w}/ready; while :; do :; done')
    wait(box.path("W/ready"))
    started = events_of(process)[0]
    check(os.path.exists(started["cgroup"]), "there is no cgroup")
    process.kill()
    process.wait()
    until(lambda: not os.path.exists(f"/proc/{started['pid']}"), "the agent's death")
    until(lambda: not os.path.exists(started["cgroup"]), "the cgroup's end")
    content = read(beat)
    time.sleep(0.2)
    unchanged(beat, content)


def test_nothing_is_left_behind(box):
    """After a run, and after kill -9 of Comet, no process, cgroup or map entry is left."""
    before = held()
    box.run(box.usual(), ACT, f"read {box.s}")
    same(before)
    kill_comet(box, box.usual(programs=[ACT]))
    same(before)


@limit(300)
@variant("cgroup-hybrid", "cgroup-odd")
def test_unusual_place_of_cgroups(box):
    """Where cgroup v2 lies elsewhere a run is held; after the last one the kernel holds nothing."""
    before = bpf("prog"), bpf("map")
    result = box.run(box.usual(), ACT, f"read {box.s}", f"read {box.path('W/ok')}")
    equal(result.out.splitlines(), ["ENOENT", "fine"], "answers")
    violated(result, ("fs.read", box.s))
    started = result.events[0]
    check("/comet-" in started["cgroup"] and not os.path.exists(started["cgroup"]), "cgroup")
    until(lambda: (bpf("prog"), bpf("map")) == before, "nothing left of the run")
    kill_comet(box, box.usual(programs=[ACT]))
    until(lambda: (bpf("prog"), bpf("map")) == before, "nothing left of the killed run")


def refuses(box, *words):
    """comet run exits 125 at once, says what is missing, and has not run the command."""
    marker = box.path("W/marker")
    start_time = time.monotonic()
    result = box.comet("run", box.usual(), "--", "/bin/sh", "-c", f"echo > {marker}")
    took = time.monotonic() - start_time
    equal(result.code, 125, "exit code")
    check(took < 3, f"it took {took} s to say so")
    for word in words:
        check(word in result.err, f"no {word} in {result.err}")
    check(not os.path.exists(marker), "the command has run")
    doctor = box.comet("doctor")
    equal(doctor.code, 1, "exit code of doctor")


@limit(300)
@variant("cgroup-odd")
def test_kernel_without_btf(box):
    """Where the kernel does not tell its types, a run is refused with the reason."""
    marker = box.path("W/marker")
    done = subprocess.run(in_own_mounts("mount --bind /dev/null /sys/kernel/btf/vmlinux")
                          + ["run", box.usual(), "--", "/bin/sh", "-c", f"echo > {marker}"],
                          capture_output=True, text=True, check=False)
    equal(done.returncode, 125, f"exit code ({done.stderr})")
    check("BTF" in done.stderr or "/sys/kernel/btf" in done.stderr, done.stderr)
    check(not os.path.exists(marker), "the command has run")


@variant("no-bpf-lsm")
def test_kernel_without_bpf_lsm(box):
    """Where BPF is no LSM of the kernel, a run is refused with the remedy."""
    refuses(box, "lsm=", "bpf")


@variant("cgroup-v1")
def test_host_without_cgroup2(box):
    """Where cgroup v2 is not mounted, a run is refused with the remedy."""
    refuses(box, "cgroup v2", "mount -t cgroup2")
