# SPDX-License-Identifier: Apache-2.0
"""Is a run refused whose programs do not load, or whose rules find no room?"""
import ctypes
import os
import socket
import struct
import subprocess

from lib import CANARY, PROBES, check, clean, equal, limit, violated, wait
from life import bpf, events_of, held, same, start, until

VARIANTS = ("faults",)
PRESS = f"{PROBES}/press"


def refused(box, pack, fault, *words, code=125):
    """comet run exits so, says why in these words, and has not run the command."""
    marker = box.path("W/marker")
    result = box.comet("run", pack, "--", PRESS, f"make {marker}", fault=fault)
    equal(result.code, code, f"exit code with {fault}")
    for word in words:
        check(word in result.err, f"no {word} in {result.err}")
    equal(len([line for line in result.err.splitlines() if "warning" not in line]), 1, "sentences")
    check(not os.path.exists(marker), "the command has run")


@limit(300)
def test_a_program_that_the_verifier_rejects(box):
    """Whichever program the kernel refuses: exit 125, its name, and nothing has run or stays."""
    pack = box.usual()
    clean(box.run(pack, PRESS, f"make {box.w}/before"))
    before = held()
    for program in "comet_cgroup_mkdir", "comet_file_open", "comet_socket_connect":
        refused(box, pack, f"reject={program}", program)
    same(before)
    clean(box.run(pack, PRESS, f"make {box.w}/marker", fault="few-programs=sound"))
    same(before)


@limit(300)
def test_rules_that_find_no_room(box):
    """Where a manifest's objects, names or addresses are too many for the maps it is refused."""
    small = "few-programs=small,small-map=comet_objects:400,small-map=comet_names:400,small-map=comet_nets:40"
    before = held()
    for i in range(400):
        box.dir(f"many/{i}")
    many = [box.path(f"many/{i}") for i in range(400)]
    ports = [("127.0.0.1", port, "quic") for port in range(1000, 1040)]
    holder = start(box, box.usual(name="holder"), PRESS, f"make {box.w}/ready", f"gate {box.r}/fifo",
                   f"read {box.s}", fault=small)
    os.mkfifo(box.path("R/fifo"))
    wait(box.path("W/ready"))
    refused(box, box.usual(read=many, name="objects"), small, "comet_objects", "400 entries")
    refused(box, box.usual(read=[f"{box.root}/no{i}" for i in range(400)], name="names"), small,
            "comet_names", "400 entries")
    refused(box, box.usual(egress=ports, name="nets"), small, "comet_nets", "40 entries")
    clean(box.run(box.usual(egress=ports[:20], name="few"), PRESS, f"make {box.w}/1", fault=small))
    open(box.path("R/fifo"), "wb").close()
    out, _ = holder.communicate(timeout=60)
    equal((holder.returncode, out.split()), (3, ["ok", "ok", "ENOENT"]), "the run that had room")
    clean(box.run(box.usual(read=many, egress=ports, name="all"), PRESS, f"make {box.w}/2"))
    same(before)


@limit(300)
def test_runs_that_find_no_room(box):
    """Where there is no room for one more run it is refused; the one that is there stays held."""
    os.mkfifo(box.path("R/fifo"))
    before = held()
    for name, room in ("comet_policies", 1), ("comet_counters", 1), ("comet_rings", 1):
        fault = f"few-programs=one,small-map={name}:{room}"
        ready = box.path(f"W/{name}")
        holder = start(box, box.usual(name="holder"), PRESS, f"make {ready}", f"gate {box.r}/fifo",
                       f"read {box.s}", fault=fault)
        wait(ready)
        refused(box, box.usual(), fault, name, "1 entries")
        open(box.path("R/fifo"), "wb").close()
        out, _ = holder.communicate(timeout=60)
        equal((holder.returncode, out.split()), (3, ["ok", "ok", "ENOENT"]), "the one that is there")
        clean(box.run(box.usual(), PRESS, f"make {ready}-2", fault=fault))
    refused(box, box.usual(), "few-programs=one,small-map=comet_layers:1", "comet_layers", "1 entries")
    same(before)


def started(process):
    return [e for e in events_of(process) if e["kind"] == "run_started"]


def move_down(agent, depth):
    """Puts the agent into the last of that many cgroups, one in the other, below its own."""
    cgroup = agent["cgroup"]
    for i in range(depth):
        cgroup += f"/{i}"
        os.mkdir(cgroup)
    with open(f"{cgroup}/cgroup.procs", "w", encoding="ascii") as f:
        f.write(str(agent["pid"]))


def fields_of(pid):
    with open(f"/proc/{pid}/status", encoding="utf-8") as f:
        return dict(line.rstrip("\n").split(":\t", 1) for line in f)


@limit(300)
def test_cgroups_that_find_no_room(box):
    """Child cgroups of a run, for which the map has no room, are held as the run is; those too
    deep to tell are refused everything, and nobody counts as inside for them."""
    # With every capability, and all numbers of processes known, Comet alone is in their way.
    fault = "own-set=three,small-map=comet_layers:3,host-pids,keep-capabilities"
    x = box.listen(socket.SOCK_DGRAM)
    os.mkfifo(box.path("R/fifo"))
    before = held()
    outside = subprocess.Popen(["sleep", "1000"])
    box.closers += [outside.kill, outside.wait]
    other = start(box, box.usual(name="other"), "/bin/sleep", "1000", fault=fault)
    # All programs are loaded for it.
    until(lambda: other.poll() is not None or os.path.exists(other.events) and started(other),
          "the other run", 60)
    victims = outside.pid, started(other)[0]["pid"]
    others = [f"{what} {pid}" for pid in victims for what in ("end", "trace")]
    held_as_declared = ["ENOENT", "ECONNREFUSED", "ok", "ok"]
    cases = (0, held_as_declared), (3, held_as_declared), (70, ["EPERM"] * 4)
    for runs, (depth, answers) in enumerate(cases, 2):
        ready, made = box.path(f"W/ready{depth}"), box.path(f"W/made{depth}")
        process = start(box, box.usual(), PRESS, f"make {ready}", f"gate {box.r}/fifo",
                        f"read {box.s}", f"send {x.port} x", f"make {made}", "end 0", *others,
                        fault=fault)
        wait(ready)
        until(lambda: len(started(process)) == runs, "the agent's number")
        move_down(started(process)[-1], depth)
        open(box.path("R/fifo"), "wb").close()
        out, _ = process.communicate(timeout=60)
        equal(out.split(), ["ok", "ok", *answers, *["EPERM"] * 4], f"answers at depth {depth}")
        equal(os.path.exists(made), answers[-1] == "ok", "made")
        for pid in victims:
            fields = fields_of(pid)
            equal((fields["State"], fields["TracerPid"]), ("S (sleeping)", "0"), "a victim's state")
    other.terminate()
    other.communicate()
    equal(x.settled(), [], "arrived at X")
    same(before)


def verified(program):
    """How many instructions the verifier went through for the program of that id."""
    call = ctypes.CDLL(None, use_errno=True).syscall
    attributes = ctypes.create_string_buffer(struct.pack("<I", program).ljust(128, b"\0"))
    fd = call(321, 13, attributes, 128)  # bpf(BPF_PROG_GET_FD_BY_ID)
    check(fd >= 0, f"program {program}: {os.strerror(ctypes.get_errno())}")
    info = ctypes.create_string_buffer(256)
    attributes = ctypes.create_string_buffer(
        struct.pack("<IIQ", fd, len(info), ctypes.addressof(info)).ljust(128, b"\0"))
    done = call(321, 15, attributes, 128)  # bpf(BPF_OBJ_GET_INFO_BY_FD)
    os.close(fd)
    check(done == 0, f"program {program}: {os.strerror(ctypes.get_errno())}")
    return struct.unpack_from("<I", info, 216)[0]


@limit(400)
def test_the_largest_manifest(box):
    """With 20,000 rules of each kind all programs load, and each entry that is tried is held;
    the log tells how much the verifier had to do, and it is far from the kernel's limit."""
    x, d = box.listen(socket.SOCK_DGRAM), box.listen(socket.SOCK_DGRAM)
    room = 19000  # the base set takes the rest
    names = [box.path(f"R/n{i}") for i in range(room - 1000)]
    directories = [box.dir(f"many/{i}") for i in range(1000)]
    for i in 0, 17, 999:
        box.file(f"many/{i}/f", f"file {i}\n")
        box.file(f"many/{i}x/f", CANARY)
    ports = [p for p in range(10000, 10000 + room) if p not in (x.port, d.port)]
    pack = box.pack(read=[box.w, *names, *directories], write=[box.w],
                    egress=[("127.0.0.1", port, "quic") for port in [d.port, *ports]])
    orders = [f"read {box.path(f'many/{i}/f')}" for i in (0, 17, 999)]
    orders += [f"read {box.path(f'many/{i}x/f')}" for i in (0, 17, 999)]
    orders += [f"send {d.port} d", f"send {x.port} x"]
    result = box.run(pack, PRESS, *orders, timeout=300)
    equal(result.out.split("\n"), ["file 0", "", "file 17", "", "file 999", "", "ENOENT", "ENOENT",
                                   "ENOENT", "ok", "ECONNREFUSED", ""], "answers")
    equal((x.settled(), d.settled()), ([], [b"d"]), "arrived")
    violated(result, *[("fs.read", box.path(f"many/{i}x/f")) for i in (0, 17, 999)],
             ("egress", f"127.0.0.1:{x.port}/udp"))
    programs = {i: name for i, name in bpf("prog").items() if name.startswith("comet_")}
    counts = sorted(((verified(i), name) for i, name in programs.items()), reverse=True)
    check(len(counts) > 30, f"few programs: {counts}")
    print(f"  verifier, kernel {os.environ['KERNEL_LABEL']}: {len(counts)} programs, "
          f"{sum(n for n, _ in counts)} instructions; most: "
          + ", ".join(f"{name} {n}" for n, name in counts[:5]))
    check(counts[0][0] < 500000, f"near the limit of 1,000,000: {counts[0]}")
