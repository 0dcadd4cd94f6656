# SPDX-License-Identifier: Apache-2.0
"""What does a run tell, how does it end, and what does it leave behind?"""
import datetime
import json
import os
import re
import signal
import subprocess
import time

from lib import CANARY, PROBES, check, clean, equal, limit, unchanged, variant, violated, wait
from terminal import Terminal

ACT = f"{PROBES}/act"
NET = f"{PROBES}/net"
ENDURE = f"{PROBES}/endure"
CGROUPS = "/sys/fs/cgroup"


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def until(condition, what, seconds=20):
    end = time.monotonic() + seconds
    while not condition():
        check(time.monotonic() < end, f"not in time: {what}")
        time.sleep(0.05)


def start(box, pack, *command, options=(), **more):
    """comet run in the background; it has .events."""
    events = box.path("events-background")
    process = subprocess.Popen(["comet", "run", "--events", events, *options, pack, "--", *command],
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, **more)
    process.events = events
    box.closers.append(process.kill)
    return process


def events_of(process):
    return [json.loads(line) for line in read(process.events).splitlines()]


def end_of(result):
    equal(result.events[-1]["kind"], "run_completed", "last event")
    return result.events[-1]


def sums_up(end, denied):
    equal(end["denied"], denied, "denied")
    equal(end["delivered"] + end["folded"] + end["lost"], denied, "delivered + folded + lost")


@limit(400)
def test_no_refusal_goes_uncounted(box):
    """Of 100,000 refusals in a loop each is refused and counted, also while nobody reads."""
    files, times = 4000, 100000
    box.dir("many")
    for i in range(files):
        with open(box.path(f"many/{i}"), "wb"):
            pass
    result = box.run(box.usual(), ENDURE, f"storm {box.path('many')} 100 {times}", timeout=200)
    equal(result.out, f"{times}\n", "refused")
    equal(result.code, 3, "exit code")
    end = end_of(result)
    sums_up(end, times)
    equal(end["violations"], times, "violations")
    equal(len(result.violations), end["delivered"], "events")
    # Stopped, Comet reads no event: the ring buffer fills, and the verdicts stay.
    process = start(box, box.usual(programs=[ENDURE]), "/bin/sh", "-c",
                    f'echo > {box.w}/ready; while [ ! -e {box.w}/go ]; do :; done; '
                    f'exec "$0" "$1"', ENDURE, f"storm {box.path('many')} {files} 8000")
    wait(box.path("W/ready"))
    process.send_signal(signal.SIGSTOP)
    box.file("W/go")
    time.sleep(0.1)
    pid = events_of(process)[0]["pid"]
    until(lambda: not os.path.exists(f"/proc/{pid}"), "the end of the stopped run's agent")
    process.send_signal(signal.SIGCONT)
    out, _ = process.communicate(timeout=100)
    equal(out, "8000\n", "refused while Comet was stopped")
    equal(process.returncode, 3, "exit code")
    end = events_of(process)[-1]
    check(end["lost"] > 0, "nothing was lost: the ring buffer did not fill")
    sums_up(end, 8000)


def test_event_times(box):
    """Times are RFC 3339 in UTC, and lie between the run's start and its end."""
    before = datetime.datetime.now(datetime.timezone.utc)
    result = box.run(box.usual(), ACT, f"read {box.s}", "read /etc/shadow")
    after = datetime.datetime.now(datetime.timezone.utc)
    violated(result, ("fs.read", box.s), ("fs.read", "/etc/shadow"))
    times = []
    for event in result.events:
        check(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", event["ts"]), event["ts"])
        times.append(datetime.datetime.fromisoformat(event["ts"].replace("Z", "+00:00")))
    # Events have milliseconds, cut off.
    cut = datetime.timedelta(milliseconds=1)
    check(before - cut <= times[0] and times[-1] <= after, f"{before} {times} {after}")
    equal(times, sorted(times), "times in the order of the events")
    equal(len(times), 4, "events")


def test_event_pids(box):
    """Events name processes by the numbers that they have on the host."""
    result = box.run(box.usual(programs=["cat"]), "/bin/sh", "-c", 'cat "$0"; :', box.s)
    violated(result, ("fs.read", box.s))
    started, violation = result.events[0], result.violations[0]
    equal(started["kind"], "run_started", "first event")
    equal(violation["ppid"], started["pid"], "the shell's pid")
    check(violation["pid"] > started["pid"], "cat's pid")
    equal(violation["comm"], "cat", "comm")


def test_events_of_odd_names(box):
    """Whatever bytes a name holds, its event is one line of valid JSON in valid UTF-8."""
    names = [b"\xff\xfe", b"new\nline", b'quote"', b"back\\slash", b"\x01\x02", b"esc\x1b[31m",
             "separator\u2028\u2029\u0085".encode(), b"half \xe2\x82", b"\xed\xa0\x80", b"\x7f",
             "sch\u00f6n".encode(), b"%s%n"]
    root = os.fsencode(box.root)
    files = [root + b"/" + name for name in names]
    long = root
    while len(long) < 4095 - 256:
        long += b"/" + b"d" * 200
        os.mkdir(long)
    files.append(long + b"/" + b"f" * (4095 - len(long) - 1))
    for name in files:
        with open(name, "wb"):
            pass
    result = box.run(box.usual(), "/bin/cat", *[os.fsdecode(name) for name in files])
    equal(result.code, 3, "exit code")
    with open(box.path("events-1.ndjson"), "rb") as f:
        text = f.read().decode("utf-8")
    check(text.endswith("\n") and text.count("\n") == len(text.splitlines()) == len(files) + 2,
          "not one line for each event")
    check(not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029]", text), "a raw control character")
    found = [bytes.fromhex(v["requested_bytes"]) if "requested_bytes" in v
             else v["requested"].encode() for v in result.violations]
    equal(found, files, "requested")


def test_events_of_paths_beyond_the_limit(box):
    """A path that is longer than any that can be named keeps its end, and is marked."""
    directory, name = os.open(box.root, os.O_RDONLY), "d" * 200
    for _ in range(25):
        os.mkdir(name, dir_fd=directory)
        below = os.open(name, os.O_RDONLY, dir_fd=directory)
        os.close(directory)
        directory = below
    os.close(os.open("leaf", os.O_WRONLY | os.O_CREAT, dir_fd=directory))
    os.close(directory)
    result = box.run(box.usual(), ENDURE, f"deep {box.root} {name} leaf")
    equal(result.out, "ENOENT\n", "answer")
    equal(result.code, 3, "exit code")
    violation = result.violations[0]
    check(violation["truncated"], "truncated")
    check(violation["requested"].endswith(f"/{name}/{name}/leaf"), violation["requested"])


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
    check(len(answer["errors"]) == 1 and box.s in answer["errors"][0], f"errors: {answer['errors']}")
    check(set(answer["usage"]) == {"wall_ms", "vcpu_seconds"}, f"usage: {answer['usage']}")
    code, answer = result_of(pack, "/bin/true")
    equal((code, answer["ok"], answer["exit"], answer["errors"]), (0, True, 0, []), "success")
    code, answer = result_of(pack, "/bin/sh", "-c", "while :; do :; done",
                             options=["--timeout", "1"])
    equal((code, answer["ok"], answer["exit"], answer["timed_out"]), (6, False, None, True), "late")
    code, answer = result_of(box.path("no-such-pack"), "/bin/true")
    equal((code, answer["ok"], answer["exit"], len(answer["errors"])), (2, False, None, 1), "no pack")


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


def bpf(kind):
    """What the kernel holds of Comet: names by id."""
    done = subprocess.run(["bpftool", "-j", kind, "show"], capture_output=True, check=True)
    return {o["id"]: o.get("name", "") for o in json.loads(done.stdout)}


def entries(name):
    """How many entries the map has."""
    done = subprocess.run(["bpftool", "-j", "map", "dump", "name", name], capture_output=True,
                          check=False)
    return len(json.loads(done.stdout))


def held():
    """All that a run could leave behind."""
    return {
        "programs": bpf("prog"), "maps": bpf("map"),
        "cgroups": sorted(d for d in os.listdir(CGROUPS) if d.startswith("comet-")),
        "processes": subprocess.run(["pgrep", "-x", "comet.*"], capture_output=True, text=True,
                                    check=False).stdout.split(),
        "canaries": sorted(os.listdir("/run/comet")) if os.path.exists("/run/comet") else [],
        **{name: entries(name) for name in ("comet_layers", "comet_objects", "comet_names",
                                            "comet_nets", "comet_policies", "comet_rings")},
    }


def same(before):
    until(lambda: held() == before, "nothing left behind")


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


def test_interactive_shell(box):
    """On a terminal an interactive shell has job control, and hands the terminal back."""
    pack = box.usual(programs=["sleep"])
    terminal = Terminal("env", "PS1=out> ", "bash", "--norc", "--noprofile", "-i")
    box.closers.append(terminal.close)
    terminal.expect("out> ")
    events = box.path("events")
    terminal.type(f"comet run --quiet --events {events} --env 'PS1=in> ' "
                  f"--env HISTFILE= {pack} -- bash --norc --noprofile -i\n")
    greeting = terminal.expect("in> ")
    check("job control" not in greeting, greeting)
    terminal.type("sleep 1000\n")
    terminal.expect("sleep 1000")
    time.sleep(0.5)
    terminal.type("\x1a")
    terminal.expect("Stopped")
    terminal.expect("in> ")
    terminal.type("jobs\n")
    terminal.expect("sleep 1000")
    terminal.type("fg\n")
    terminal.expect("in> fg")
    time.sleep(0.5)
    terminal.type("\x03")
    terminal.expect("in> ")
    terminal.type("echo code=$?\n")
    terminal.expect("code=130")
    terminal.type("exit 7\n")
    terminal.expect("out> ")
    box.notes.append(read(events))
    terminal.type("echo code=$?\n")
    terminal.expect("code=7")
    equal([e["kind"] for e in map(json.loads, read(events).splitlines())
           if e.get("severity") != "info"], ["run_started", "run_completed"], "events")


def test_run_as_a_job(box):
    """A run is a job of the shell that started it: it stops, goes on and is interrupted as one."""
    terminal = Terminal("env", "PS1=out> ", "bash", "--norc", "--noprofile", "-i")
    box.closers.append(terminal.close)
    terminal.expect("out> ")
    terminal.type(f"comet run --quiet {box.usual()} -- sh -c "
                  f"'echo > {box.w}/ready; while :; do :; done'\n")
    wait(box.path("W/ready"))
    terminal.type("\x1a")
    terminal.expect("Stopped")
    terminal.expect("out> ")
    terminal.type("fg\n")
    terminal.expect("comet run")
    time.sleep(0.5)
    terminal.type("\x03")
    terminal.expect("out> ")
    terminal.type("echo code=$?\n")
    terminal.expect("code=130")
