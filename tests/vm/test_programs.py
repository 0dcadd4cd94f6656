# SPDX-License-Identifier: Apache-2.0
"""Does a name, an environment variable or a handler start a program that nobody declared?"""
import os
import shutil
import socket
import subprocess

from lib import (CANARY, PROBES, PYTHON, check, clean, equal, meanwhile, unchanged, violated,
                 wait)

PLANTED = f"{PROBES}/planted.so"
ID = "/usr/bin/id"
TRUE = "/usr/bin/true"
UNAME = "/usr/bin/uname"
BUSYBOX = "/bin/busybox"
BINFMT = "/proc/sys/fs/binfmt_misc"


def planting(box):
    """A library in W, the environment that tells it what to try, and where X and its log are."""
    library, log = box.path("W/evil.so"), box.path("W/log")
    shutil.copy(PLANTED, library)
    x = box.listen(address="127.0.0.2")
    options = [f"--env=PLANTED_{key}={value}" for key, value in {
        "LOG": log, "FILE": box.s, "PORT": x.port, "PROGRAM": TRUE}.items()]
    return library, log, x, options


def held_all_the_same(box, result, x):
    violated(result, ("fs.read", box.s), ("egress", f"{x.address}:{x.port}/tcp"), ("exec", TRUE))
    unchanged(box.path("W/log"), "ENOENT+ECONNREFUSED+EACCES\n")
    equal(x.settled(), [], "what arrived at X")
    os.unlink(box.path("W/log"))


def test_code_mapped_from_a_writable_file(box):
    """A program may map a file of W and run what is in there: it stays held, as all that runs."""
    library, log, x, options = planting(box)
    code = f"import ctypes; ctypes.CDLL({library!r}); print('loaded')"
    result = box.run(box.usual(), PYTHON, "-c", code, options=options)
    equal(result.out, "loaded\n", "standard output")
    held_all_the_same(box, result, x)
    pack = box.usual(read=[box.s], egress=[(x.address, x.port, "http")], programs=["true"],
                     name="granted")
    result = box.run(pack, PYTHON, "-c", code, options=options)
    clean(result)
    unchanged(log, "ok+ok+ok\n")


def test_code_loaded_by_environment(box):
    """LD_PRELOAD, PYTHONSTARTUP and NODE_OPTIONS make a program run other code, which stays held:
    the policy is the cgroup's, not the program's."""
    library, _, x, options = planting(box)
    script = box.file("W/e.py", f"import ctypes; ctypes.CDLL({library!r})\n")
    module = box.file("W/e.js", f"""
        const fs = require('fs'), words = [];
        try {{ fs.readFileSync({box.s!r}); words.push('ok') }} catch (e) {{ words.push(e.code) }}
        const s = require('net').connect({x.port}, {x.address!r});
        s.on('connect', () => finish('ok')).on('error', e => finish(e.code));
        function finish(word) {{
            words.push(word);
            const done = require('child_process').spawnSync({TRUE!r});
            words.push(done.error ? done.error.code : 'ok');
            fs.writeFileSync({box.w + '/log'!r}, words.join('+') + '\\n');
            process.exit(0);
        }}""")
    for variable, command in (
            (f"LD_PRELOAD={library}", ["/bin/sh", "-c", ":"]),
            (f"PYTHONSTARTUP={script}", [PYTHON, "-iq"]),
            (f"NODE_OPTIONS=--require={module}", ["node", "-e", "0"])):
        result = box.run(box.usual(), *command, options=[
            *options, "--env", variable, "--env", f"HOME={box.w}"])
        held_all_the_same(box, result, x)


def test_faked_names(box):
    """What a program is called, by its argument zero or by its own choice, is not asked."""
    code = """
import ctypes
ctypes.CDLL(None).prctl(15, b"uname", 0, 0, 0)
for program in sys.argv[1:]:
    attempt(lambda: subprocess.run(["uname"], executable=program, check=True,
                                   stdout=subprocess.DEVNULL))
"""
    result = box.python(box.usual(programs=["uname"]), code, UNAME, ID)
    equal(result.out.splitlines(), ["ok", "EACCES"], "answers")
    violated(result, ("exec", ID))
    equal(result.violations[0]["comm"], "uname", "comm")


def test_one_file_that_is_many_programs(box):
    """Whoever may start busybox may start all that is in it, also by links made inside, and
    nothing else."""
    script = f"""
        {BUSYBOX} cat W/ok
        {BUSYBOX} ln -s {BUSYBOX} W/expr && W/expr 40 + 2
        {BUSYBOX} cp {BUSYBOX} W/copy; W/copy cat W/ok
        {UNAME}"""
    result = box.run(box.usual(), BUSYBOX, "sh", "-c", f"cd {box.root}\n{script}")
    equal(result.out, "fine\n42\n", "standard output")
    violated(result, ("exec", box.path("W/copy")), ("exec", UNAME))


def test_scripts_that_look_for_their_interpreter(box):
    """With a declared script go its interpreter and, if that is env, the program that env is to
    look for; where that is missing, one line says so."""
    direct = box.file("R/direct", f"#!{PYTHON}\nprint('direct')\n", 0o755)
    by_env = box.file("R/by-env", "#!/usr/bin/env python3\nprint('by env')\n", 0o755)
    missing = box.file("R/missing", "#!/usr/bin/env no-such-python\n", 0o755)
    for script, words in ((direct, "direct\n"), (by_env, "by env\n")):
        result = box.run(box.usual(), script)
        clean(result)
        equal(result.out, words, "standard output")
        result = box.run(box.usual(programs=[script], name="inside"), "/bin/sh", "-c", script)
        clean(result)
        equal(result.out, words, "standard output")
    # The interpreter alone is not enough, and does not go further than its own entry.
    result = box.run(box.usual(programs=["env", "true"], name="env"), "/bin/sh", "-c",
                     f"{by_env}; env {ID}; env true && echo started")
    equal(result.out, "started\n", "standard output")
    violated(result, ("exec", by_env), ("exec", ID))
    # A script of the agent's own is not started by its name, though its interpreter is.
    own = box.file("W/own", f"#!{PYTHON}\nprint('own')\n", 0o755)
    result = box.run(box.usual(programs=[PYTHON], name="own"), "/bin/sh", "-c",
                     f"{own}; {PYTHON} {own}")
    equal(result.out, "own\n", "standard output")
    violated(result, ("exec", own))
    result = box.comet("run", box.usual(), "--", missing)
    equal(result.code, 127, "exit code")
    equal(len(result.err.splitlines()), 1, f"lines in {result.err!r}")
    check(missing in result.err and "no-such-python" in result.err, result.err)


def test_chain_of_scripts(box):
    """Each interpreter of a chain of scripts was granted as the chain stood at the start: another
    one that stands there later is refused, and the event names it."""
    program = box.file("R/c", f"#!{TRUE}\n", 0o755)
    for name, interpreter in ("b", program), ("a", box.path("R/b")):
        box.file(f"R/{name}", f"#!{interpreter}\n", 0o755)
    pack = box.usual(programs=[box.path("R/a")])
    code = """
w, script = sys.argv[1:]
attempt(run, script)
write(w + "/ready")
wait(w + "/go")
attempt(run, script)
"""

    def replace():
        wait(box.path("W/ready"))
        with open(program, "w", encoding="ascii") as f:
            f.write(f"#!{ID}\n")
        box.file("W/go")

    with meanwhile(replace):
        result = box.python(pack, code, box.w, box.path("R/a"))
    equal(result.out.splitlines(), ["ok", "EACCES"], "answers")
    violated(result, ("exec", ID))


def handle(box, flags, interpreter):
    """The kernel starts interpreter for files that begin with COMETTEST."""
    with open(f"{BINFMT}/register", "w", encoding="ascii") as f:
        f.write(f":comet-test:M::COMETTEST::{interpreter}:{flags}")

    def remove():
        with open(f"{BINFMT}/comet-test", "w", encoding="ascii") as f:
            f.write("-1")

    box.closers.append(remove)
    return lambda: box.closers.pop()()


def test_handlers_of_other_formats(box):
    """A handler that the host registered for a file's format starts only what is declared, and the
    event names the handler's program; inside none can be registered."""
    subprocess.run(["modprobe", "binfmt_misc"], check=True)
    subprocess.run(["mount", "-t", "binfmt_misc", "none", BINFMT], check=True)
    box.closers.append(lambda: subprocess.run(["umount", BINFMT], check=True))
    data = box.file("R/data", "COMETTEST\n", 0o755)
    start = f"run({data!r})"
    for flags in "", "F", "OC":
        remove = handle(box, flags, TRUE)
        result = box.tries(box.usual(programs=[data, "true"], name="both"), [(start, "ok")])
        clean(result)
        result = box.tries(box.usual(programs=[data], name="data"), [(start, "EACCES")])
        violated(result, ("exec", TRUE))
        result = box.tries(box.usual(programs=["true"], name="program"), [(start, "EACCES")])
        violated(result, ("exec", data))
        remove()
    result = box.tries(box.usual(write=["/proc"]), [
        (f"write('{BINFMT}/register', b':x:M::COMETTEST::{ID}:')", "ENOENT")])
    check(not os.path.exists(f"{BINFMT}/x"), "a handler was registered")


def without(entries, key):
    return {k: v for k, v in entries.items() if k != key}


def test_each_key_of_the_manifest(box):
    """What each key grants is refused without it, and refused when it grants something else."""
    x = box.listen(address="127.0.0.2")
    u = box.listen(kind=socket.SOCK_DGRAM, address="127.0.0.2", port=x.port)
    tcp = f"socket.create_connection(({x.address!r}, {x.port}))"
    udp = (f"socket.socket(type=socket.SOCK_DGRAM).sendto(b'x', ({x.address!r}, {x.port}))")
    new, other = box.path("new"), box.file("other", CANARY)
    keys = {
        "read": ([box.s], f"read({box.s!r})", "ENOENT"),
        "write": ([new], f"write({new!r})", "EACCES"),
        "egress": ([(x.address, x.port, "http")], tcp, "ECONNREFUSED"),
        "programs": (["true"], "run('true')", "EACCES"),
    }
    everything = {key: value for key, (value, _, _) in keys.items()}
    before = "import socket\n"
    result = box.tries(box.pack(name="all", **everything),
                       [(what, "ok") for _, what, _ in keys.values()], before)
    clean(result)
    os.unlink(new)
    for left_out in keys:
        result = box.tries(
            box.pack(name="less", **without(everything, left_out)),
            [(what, answer if key == left_out else "ok")
             for key, (_, what, answer) in keys.items()], before)
        equal((result.code, len(result.violations)), (3, 1), f"without {left_out}")
        equal(os.path.exists(new), left_out != "write", "the new file")
        if left_out != "write":
            os.unlink(new)
    # An entry of its kind, and yet another thing than the one that is tried.
    for key, value in (("read", [other]), ("write", [other]), ("programs", ["id"]),
                       ("egress", [("127.0.0.3", x.port, "http")]),
                       ("egress", [(x.address, x.port + 1, "http")]),
                       ("egress", [(x.address, x.port, "quic")])):
        _, what, answer = keys[key]
        result = box.tries(box.pack(name="other", **{key: value}), [(what, answer)], before)
        equal((result.code, len(result.violations)), (3, 1), f"{key} {value}")
    arrived = len(x.settled())
    equal(arrived, 4, "connections that arrived at X")
    clean(box.tries(box.pack(egress=[(x.address, x.port, "quic")], name="udp"), [(udp, "ok")],
                    before))
    violated(box.tries(box.pack(egress=[(x.address, x.port, "http")], name="tcp"),
                       [(udp, "ECONNREFUSED")], before),
             ("egress", f"{x.address}:{x.port}/udp"))
    equal(u.settled(), [b"x"], "datagrams that arrived at X")
    slow = ["/bin/sh", "-c", "sleep 3"]
    pack = box.pack(programs=["sleep"], name="slow")
    clean(box.run(pack, *slow))
    with open(pack, encoding="utf-8") as f:
        text = f.read().replace("sandbox:\n", "sandbox:\n  budget_seconds_max: 1\n")
    equal(box.run(box.file("limited.yaml", text), *slow).code, 6, "exit code with a time limit")
