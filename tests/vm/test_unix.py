# SPDX-License-Identifier: Apache-2.0
"""Which UNIX sockets does a run reach, and which of its own work?"""
import os
import socket
import threading

from lib import PYTHON, check, clean, equal, violated
from life import start, until

STREAM, DGRAM, SEQPACKET = socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET


def place(box, path):
    """A listener at a path of the host, whose directory is gone afterwards if it was made."""
    made = []
    parent = os.path.dirname(path)
    while not os.path.exists(parent):
        made.append(parent)
        parent = os.path.dirname(parent)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    listener = box.listen_unix(STREAM, path)
    os.chmod(path, 0o666)
    box.closers += [lambda: os.unlink(path)] + [lambda d=d: os.rmdir(d) for d in made]
    return listener


REACH = """
def reach(path):
    s = socket.socket(socket.AF_UNIX)
    s.connect(path)
    s.sendall(b"order")
def reach_agent():
    reach(os.environ["SSH_AUTH_SOCK"])
"""


def test_sockets_of_mighty_services(box):
    """The sockets of the container engine, D-Bus and ssh-agent are refused, also where their
    directory is readable; one that fs_write names is reached."""
    docker, bus, agent = [place(box, path) for path in (
        "/run/docker.sock", "/run/dbus/system_bus_socket", "/tmp/ssh-XXXXdVpmSC/agent.77")]
    env = {**os.environ, "SSH_AUTH_SOCK": agent.address}
    attempts = [f"reach({docker.address!r})", f"reach('/var{docker.address}')",
                f"reach({bus.address!r})", "reach_agent()"]
    events = [("ipc", s.address) for s in (docker, bus, agent)]
    os.symlink("/run/docker.sock", box.path("R/docker"))
    attempts.append(f"reach({box.path('R/docker')!r})")
    # Where a manifest grants a path in /tmp, the run has a /tmp of its own.
    readable = [os.path.dirname(s.address) for s in (docker, bus)]
    for name, read in (("none", ()), ("readable", readable)):
        for user in "root", "agent":
            result = box.tries(box.usual(read=read, name=name),
                               [(what, "ECONNREFUSED") for what in attempts], REACH,
                               options=["--user", user], env=env)
            violated(result, *events)
    for s in docker, bus, agent:
        equal(s.settled(), [], f"what arrived at {s.address}")
    named = box.usual(write=[docker.address, bus.address], name="named")
    result = box.tries(named, [(what, "ECONNREFUSED" if "agent" in what else "ok")
                               for what in attempts], REACH, env=env)
    violated(result, ("ipc", agent.address))
    check(b"order" in docker.settled() and b"order" in bus.settled(), "the named are reached")


def test_curl_to_the_container_engine(box):
    """curl --unix-socket does not reach the container engine that the manifest does not name."""
    docker = place(box, "/run/docker.sock")
    docker.socket.close()
    os.unlink(docker.address)
    asked = []
    engine = socket.socket(socket.AF_UNIX)
    engine.bind(docker.address)
    engine.listen(4)
    box.closers.insert(0, engine.close)

    def serve():
        while True:
            try:
                peer, _ = engine.accept()
            except OSError:
                return
            asked.append(peer.recv(65536))
            peer.sendall(b"HTTP/1.0 200 OK\r\nContent-Length: 3\r\n\r\n[]\n")
            peer.close()

    threading.Thread(target=serve, daemon=True).start()
    command = ["curl", "-sS", "--unix-socket", docker.address, "http://engine/containers/json"]
    violated(box.run(box.usual(read=["/run"]), *command), ("ipc", docker.address))
    equal(asked, [], "questions to the engine")
    result = box.run(box.usual(write=[docker.address], name="named"), *command)
    clean(result)
    equal(result.out, "[]\n", "the engine's answer")


WAYS = """
def connect(kind, to):
    s = socket.socket(socket.AF_UNIX, kind)
    s.connect(to)
    s.send(b"x")
def sendto(to):
    socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b"x", to)
def sendmsg(to, fd=0):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    s.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, fd.to_bytes(4, "little"))], 0, to)
STREAM, DGRAM, SEQPACKET = 1, 2, 5
"""


def ways(kind, name):
    to = repr("\0" + name[1:] if name.startswith("@") else name)
    if kind != DGRAM:
        return [f"connect({int(kind)}, {to})"]
    return [f"connect(DGRAM, {to})", f"sendto({to})", f"sendmsg({to})"]


class Packets:
    """A listener of the third kind, which lib's listeners do not know."""

    def __init__(self, box, name):
        self.address = name
        self.socket = socket.socket(socket.AF_UNIX, SEQPACKET)
        self.socket.bind("\0" + name[1:] if name.startswith("@") else name)
        self.socket.listen(8)
        self.socket.settimeout(0.5)
        box.closers.append(self.socket.close)

    def settled(self):
        try:
            return [self.socket.accept()]
        except TimeoutError:
            return []


def test_every_kind_of_socket_outside(box):
    """Stream, datagram and seqpacket sockets outside, with a path or an abstract name, are refused
    by every way to them; those in W are reached."""
    refused, granted = [], []
    for some, names in ((refused, ("R/{}", "@out-{}")), (granted, ("W/{}",))):
        for form in names:
            for kind in STREAM, DGRAM, SEQPACKET:
                name = form.format(int(kind))
                name = name if name.startswith("@") else box.path(name)
                some.append((kind, Packets(box, name) if kind == SEQPACKET
                             else box.listen_unix(kind, name)))
    clean(box.tries(box.usual(), [(way, "ok") for kind, s in granted
                                  for way in ways(kind, s.address)], WAYS))
    for _, s in granted:
        check(s.settled(), f"nothing arrived at {s.address}")
    result = box.tries(box.usual(), [(way, "ECONNREFUSED") for kind, s in refused
                                     for way in ways(kind, s.address)], WAYS)
    violated(result, *[("ipc", s.address) for _, s in refused])
    for _, s in refused:
        equal(s.settled(), [], f"what arrived at {s.address}")


def test_names_that_are_no_text(box):
    """An abstract name of control bytes is told in printable form, its bytes in hexadecimal."""
    name = b"\0evil\x1b[2Jname\n\xff"
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(name)
    listener.listen(1)
    with listener:
        result = box.tries(box.usual(), [(f"connect(STREAM, {name!r})", "ECONNREFUSED")], WAYS)
        words = box.comet("run", box.usual(), "--", PYTHON, "-c",
                          f"import socket; socket.socket(1).connect({name!r})")
    event, = result.violations
    equal(bytes.fromhex(event["requested_bytes"]).lstrip(b"@\0"), name[1:], "bytes of the name")
    with open(box.path("events-1.ndjson"), encoding="utf-8") as f:
        written = f.read()
    for text in written, words.err:
        check("\x1b" not in text and "evil" in text, f"not printable: {text!r}")


def test_given_unix_sockets(box):
    """A connected stream given as standard input is used as it was opened; datagrams, which are
    judged one by one, leave a given pair only if nobody outside holds its other end."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, STREAM)
    theirs.sendall(b"hello")
    given = "given = socket.socket(fileno=os.dup(0))\n"
    result = box.tries(box.usual(), [("given.recv(9)", "ok"), ("given.send(b'back')", "ok")],
                       given, stdin=ours)
    clean(result)
    equal(theirs.recv(9), b"back", "what came out")
    ours, theirs = socket.socketpair(socket.AF_UNIX, DGRAM)
    theirs.send(b"hello")
    result = box.tries(box.usual(), [("given.recv(9)", "ok"), ("given.send(b'x')", "ECONNREFUSED")],
                       given, stdin=ours)
    violated(result, ("ipc", "(unnamed)"))
    theirs.setblocking(False)
    try:
        equal(theirs.recv(9), None, "what came out")
    except BlockingIOError:
        pass


# Two processes, a pair and a socket file: text by send and sendmsg, and descriptors both ways.
EXCHANGE = """
w, r = sys.argv[1:]
def parent_of(end):
    end.send(b"by send")
    end.sendmsg([b"by ", b"sendmsg"])
    with open(r, "rb") as f:
        socket.send_fds(end, [b"a file"], [f.fileno()])
    text, fds, _, _ = socket.recv_fds(end, 100, 1)
    os.write(fds[0], b"through the descriptor")
def child_of(end):
    got = b""
    while len(got) < 17:
        got += end.recv(17 - len(got))
    assert got == b"by sendby sendmsg", got
    text, fds, _, _ = socket.recv_fds(end, 100, 1)
    assert os.read(fds[0], 100) == b"read me\\n"
    here, there = os.pipe()
    socket.send_fds(end, [b"a pipe"], [there])
    assert os.read(here, 100) == b"through the descriptor"
def both(parent_end, child_end):
    pid = os.fork()
    if pid == 0:
        child_of(child_end())
        os._exit(0)
    parent_of(parent_end())
    assert os.waitpid(pid, 0)[1] == 0
def pair(kind):
    a, b = socket.socketpair(socket.AF_UNIX, kind)
    both(lambda: a, lambda: b)
def named(name):
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(name)
    listener.listen(1)
    def other():
        s = socket.socket(socket.AF_UNIX)
        s.connect(name)
        return s
    both(lambda: listener.accept()[0], other)
attempt(pair, socket.SOCK_STREAM)
attempt(named, w + "/exchange")
attempt(named, "\\0exchange")
os.unlink(w + "/exchange")
"""


def test_messages_and_descriptors_inside(box):
    """Two processes of a run exchange messages and descriptors, over a pair, a socket file in W
    and an abstract name."""
    os.chmod(box.w, 0o777)
    for user in "root", "agent":
        result = box.python(box.usual(), EXCHANGE, box.w, box.path("R/f"),
                            options=["--user", user])
        equal(result.out.split(), ["ok"] * 3, f"answers as {user}")
        clean(result)


def test_two_runs_are_strangers(box):
    """A run does not reach the sockets of another run, unless fs_write names them."""
    code = f"""
import os, socket, time
some = []
for name in "\\0first-run", {box.path("W/first")!r}:
    s = socket.socket(socket.AF_UNIX)
    s.bind(name)
    s.listen(4)
    some.append(s)
os.write(1, b"ready")
time.sleep(100)
"""
    first = start(box, box.usual(name="first"), PYTHON, "-c", code)
    until(lambda: os.path.exists(box.path("W/first")), "the first run's socket")
    attempts = ["connect(STREAM, '\\0first-run')", f"connect(STREAM, {box.path('W/first')!r})"]
    result = box.tries(box.pack(read=[box.w], name="second"),
                       [(what, "ECONNREFUSED") for what in attempts], WAYS)
    violated(result, ("ipc", "@first-run"), ("ipc", box.path("W/first")))
    result = box.tries(box.usual(name="third"), list(zip(attempts, ("ECONNREFUSED", "ok"))), WAYS)
    violated(result, ("ipc", "@first-run"))
    first.terminate()
    first.wait()
