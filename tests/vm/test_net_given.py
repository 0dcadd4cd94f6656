# SPDX-License-Identifier: Apache-2.0
"""What may a run do with a socket that it did not make, or that two threads pull at?

Such a socket is of the cgroup of whoever made it: the packet filter, which follows the socket, does
not see it. The hooks, which follow the task, do.
"""
import socket

from lib import check, clean, equal, limit, violated
from test_net import asked, listeners

DGRAM = socket.SOCK_DGRAM

# The first descriptor as a socket, and as Python's own name for it.
GIVEN = """
import threading
given = socket.socket(fileno=os.dup(0))
def send_file(path):
    with open(path, "rb") as f:
        os.sendfile(given.fileno(), f.fileno(), 0, 4)
"""


def run_with(box, pack, given, attempts):
    with given:
        return box.tries(pack, attempts, GIVEN, stdin=given)


def test_connected_stream_as_standard_input(box):
    """A connected TCP socket given as standard input is used as it was opened, both ways; it is
    not connected elsewhere."""
    a, x = listeners(box)
    given = socket.create_connection((x.address, x.port))
    result = run_with(box, box.usual(), given, [
        ("given.sendall(b'from inside')", "ok"), ("given.recv(4)", "ok"),
        ("os.write(0, b'by write')", "ok")])
    clean(result)
    check(b"from inside" in b"".join(x.settled()), "the given connection works")
    x.got.clear()
    given = socket.create_connection((x.address, x.port))
    pack = box.usual(egress=[(a.address, a.port, "http")])
    nobody = "given.connect(('', 0)) if False else " \
             "__import__('ctypes').CDLL(None).connect(given.fileno(), b'\\0' * 16, 16)"
    result = run_with(box, pack, given, [
        (nobody, "ok"), (f"given.connect(('127.0.0.2', {x.port}))", "ECONNREFUSED")])
    violated(result, asked(x))
    equal(x.settled().count(b"connection"), 1, "connections at X")


def test_unconnected_sockets_as_standard_input(box):
    """A socket given before it is connected reaches A and not X."""
    for kind in socket.SOCK_STREAM, DGRAM:
        a, x = listeners(box, kind)
        pack = box.usual(egress=[(a.address, a.port, "quic" if kind == DGRAM else "http")])
        attempts = [(f"given.connect(('127.0.0.2', {x.port})) or given.send(b'x')",
                     "ECONNREFUSED")]
        violated(run_with(box, pack, socket.socket(socket.AF_INET, kind), attempts), asked(x))
        attempts = [(f"given.connect(('127.0.0.1', {a.port})) or given.send(b'x')", "ok")]
        clean(run_with(box, pack, socket.socket(socket.AF_INET, kind), attempts))
        check(a.settled(), "nothing arrived at A")
        equal(x.settled(), [], "what arrived at X")


def test_connected_datagrams_as_standard_input(box):
    """Datagrams are judged one by one, so a UDP socket that is given connected to X sends nothing
    there; it still receives."""
    a, x = listeners(box, DGRAM)
    pack = box.usual(egress=[(a.address, a.port, "quic")])
    given = socket.socket(socket.AF_INET, DGRAM)
    given.connect((x.address, x.port))
    x.socket.sendto(b"to you", given.getsockname())
    ways = ["given.send(b'x')", "os.write(0, b'x')", "given.sendmsg([b'x'])"]
    result = run_with(box, pack, given, [("given.recv(10)", "ok")]
                      + [(way, "ECONNREFUSED") for way in ways])
    violated(result, asked(x))
    equal(x.settled(), [], "what arrived at X")
    given = socket.socket(socket.AF_INET, DGRAM)
    given.connect((a.address, a.port))
    clean(run_with(box, pack, given, [(way, "ok") for way in ways]))
    equal(len(a.settled()), len(ways), "datagrams at A")


def test_given_socket_past_the_hooks(box):
    """sendfile, which no hook sees before Linux 6.5, sends nothing to X by a given UDP socket
    that the agent connects there."""
    a, x = listeners(box, DGRAM)
    pack = box.usual(egress=[(a.address, a.port, "quic")])
    path = box.path("R/f")
    for listener in a, x:
        given = socket.socket(socket.AF_INET, DGRAM)
        with given:
            box.python(pack, GIVEN + f"""
attempt(given.connect, ({listener.address!r}, {listener.port}))
attempt(send_file, {path!r})
""", stdin=given)
    equal(a.settled(), [b"read"], "what arrived at A")
    equal(x.settled(), [], "what arrived at X")


# One thread turns the socket between A and X, the other sends without an address.
RACE = """
import ctypes, struct, threading
libc = ctypes.CDLL(None, use_errno=True)
family, a, x, seconds = socket.AF_INET, ("127.0.0.1", %d), ("127.0.0.2", %d), %d
def raw(to):
    return struct.pack("=H", family) + struct.pack("!H", to[1]) + socket.inet_aton(to[0]) + bytes(8)
s = socket.socket(fileno=os.dup(0)) if %d else socket.socket(family, socket.SOCK_DGRAM)
fd = s.fileno()
end = time.monotonic() + seconds
def turn():
    there, here = raw(x), raw(a)
    while time.monotonic() < end:
        for _ in range(100):
            libc.connect(fd, there, 16)
            libc.connect(fd, here, 16)
thread = threading.Thread(target=turn)
thread.start()
sent = refused = 0
while time.monotonic() < end:
    for _ in range(100):
        if libc.send(fd, b"x", 1, 0) == 1:
            sent += 1
        else:
            refused += 1
thread.join()
print(sent > 0)
"""


@limit(240)
def test_connect_while_sending(box):
    """A socket that one thread connects to and fro while another sends never reaches X, be it the
    run's own or a given one."""
    a, x = listeners(box, DGRAM)
    pack = box.usual(egress=[(a.address, a.port, "quic")])
    for given in False, True:
        stdin = socket.socket(socket.AF_INET, DGRAM)
        with stdin:
            result = box.python(pack, RACE % (a.port, x.port, 6, given), stdin=stdin)
        equal(result.out.split(), ["True"], "some were sent")
        check(not given or result.code == 3, "connecting a given socket to X was not refused")
        check(a.settled(), "nothing arrived at A")
        equal(len(x.settled()), 0, f"datagrams at X (given socket: {given})")


def test_packet_socket_as_standard_input(box):
    """What is no IP socket sends where it is bound to: nothing, though it was given so. It still
    receives."""
    def packets(protocol=0x88b5):
        s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(protocol))
        s.bind(("lo", protocol))
        s.settimeout(2)
        return s

    frame = b"\xff" * 12 + b"\x88\xb5" + b"frame" * 20
    with packets() as heard, packets() as given, packets() as sender:
        ways = [f"os.write(0, {frame!r})", f"given.send({frame!r})"]
        sender.send(frame)
        result = run_with(box, box.usual(), given, [("given.recv(9)", "ok")]
                          + [(way, "ECONNREFUSED") for way in ways])
        violated(result, ("egress", "family 17 type 3"))
        equal(heard.recv(200)[:20], frame[:20], "the first frame")
        try:
            check(False, f"heard {heard.recv(200)!r}")
        except TimeoutError:
            pass
