# SPDX-License-Identifier: Apache-2.0
"""By which calls and whose libraries is a port listened on?

P is a port that the manifest's `serve` lists, Q one that it does not.
"""
import socket
import subprocess

from lib import ATTEMPT, PYTHON, check, clean, equal, violated
from life import start, until

P, Q = 4801, 4802

WAYS = """
MPTCP = 262
def stream(port, family=socket.AF_INET, protocol=0, to=None, only=1):
    s = socket.socket(family, socket.SOCK_STREAM, protocol)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if family == socket.AF_INET6:
        s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, only)
    if port is not None:
        s.bind((to or ("" if family == socket.AF_INET else "::"), port))
    s.listen(1)
    return s
def dgram(port, family=socket.AF_INET, to=None):
    s = socket.socket(family, socket.SOCK_DGRAM)
    s.bind((to or ("" if family == socket.AF_INET else "::"), port))
    return s
SIX = socket.AF_INET6
"""
ANY4, ANY6 = "0.0.0.0", "[::]"
STREAMS = [("stream({})", ANY4), ("stream({}, to='127.0.0.1')", "127.0.0.1"),
           ("stream({}, SIX)", ANY6), ("stream({}, SIX, only=0)", ANY6),
           ("stream({}, SIX, to='::1')", "[::1]"),
           ("stream({}, protocol=MPTCP)", ANY4), ("stream({}, SIX, MPTCP)", ANY6)]
DGRAMS = [("dgram({})", ANY4), ("dgram({}, to='127.0.0.1')", "127.0.0.1"), ("dgram({}, SIX)", ANY6),
          ("dgram({}, SIX, '::1')", "[::1]")]


def tries(ways, port, answer):
    return [(way.format(port), answer) for way, _ in ways]


def asked(ways, port, transport):
    return [("serve", f"{address}:{port}/{transport}") for _, address in ways]


def test_every_way_to_listen(box):
    """TCP is listened on at the declared ports alone, by IPv4, IPv6 and MPTCP; another port answers
    EACCES, and the event says what would allow it."""
    pack = box.usual(serve=[P])
    clean(box.tries(pack, tries(STREAMS, P, "ok"), WAYS))
    for user in "root", "agent":
        result = box.tries(pack, tries(STREAMS, P, "ok") + tries(STREAMS, Q, "EACCES"), WAYS,
                           options=["--user", user])
        violated(result, *asked(STREAMS, Q, "tcp"))
        equal({(v["errno"], v["op"]) for v in result.violations}, {("EACCES", "listen")}, "event")
        equal({v["fix"] for v in result.violations},
              {f"capabilities:\n  serve:\n    - {Q}"}, "what would allow it")
    violated(box.tries(box.usual(name="none"), tries(STREAMS, P, "EACCES"), WAYS),
             *asked(STREAMS, P, "tcp"))


def test_every_way_to_bind(box):
    """UDP is bound to the declared ports, and to any that the kernel chooses; another one answers
    EACCES. A port for TCP is none for UDP, nor the other way round."""
    pack = box.usual(serve=[f"{P}/udp"])
    free = [("dgram(0)", "ok"), ("dgram(0, SIX)", "ok"), ("dgram(0, to='127.0.0.1')", "ok")]
    clean(box.tries(pack, tries(DGRAMS, P, "ok") + free, WAYS))
    for user in "root", "agent":
        result = box.tries(pack, tries(DGRAMS, P, "ok") + tries(DGRAMS, Q, "EACCES"), WAYS,
                           options=["--user", user])
        violated(result, *asked(DGRAMS, Q, "udp"))
        equal({(v["errno"], v["op"]) for v in result.violations}, {("EACCES", "bind")}, "event")
        equal({v["fix"] for v in result.violations},
              {f'capabilities:\n  serve:\n    - {Q}/udp'}, "what would allow it")
    violated(box.tries(pack, tries(STREAMS, P, "EACCES"), WAYS), *asked(STREAMS, P, "tcp"))
    violated(box.tries(box.usual(serve=[P], name="tcp"), tries(DGRAMS, P, "EACCES"), WAYS),
             *asked(DGRAMS, P, "udp"))


SERVE = """
s = socket.socket()
s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
s.bind(("127.0.0.1", int(sys.argv[1])))
s.listen(4)
print("ready", flush=True)
peer = s.accept()[0]
peer.sendall(peer.recv(100).upper())
peer.close()
"""


def test_serving_outside_and_inside(box):
    """Whoever connects to a declared port is served; for the run itself that is egress."""
    agent = start(box, box.usual(serve=[P]), PYTHON, "-c", ATTEMPT + SERVE, str(P))
    equal(agent.stdout.readline(), "ready\n", "the agent")
    with socket.create_connection(("127.0.0.1", P), 10) as s:
        s.sendall(b"hello")
        equal(s.recv(100), b"HELLO", "the answer")
    equal(agent.wait(20), 0, "exit code")
    inside = WAYS + f"kept = stream({P})\n"
    attempts = [(f"socket.create_connection(('127.0.0.1', {P}))", "ECONNREFUSED")]
    violated(box.tries(box.usual(serve=[P]), attempts, inside), ("egress", f"127.0.0.1:{P}/tcp"))
    both = box.usual(serve=[P], egress=[("127.0.0.1", P, "http")], name="both")
    clean(box.tries(both, [(attempts[0][0], "ok")], inside))


def test_port_of_another(box):
    """A run does not take the datagrams of a service outside that shares its port."""
    ours = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    ours.bind(("127.0.0.1", Q))
    share = WAYS + f"""
def share(kind, port, listen):
    s = socket.socket(socket.AF_INET, kind)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.bind(("127.0.0.1", port))
    if listen:
        s.listen(1)
"""
    attempts = f"share(socket.SOCK_DGRAM, {Q}, 0)", f"share(socket.SOCK_STREAM, {Q}, 1)"
    with ours:
        violated(box.tries(box.usual(serve=[P]), [(what, "EACCES") for what in attempts], share),
                 ("serve", f"127.0.0.1:{Q}/udp"), ("serve", f"127.0.0.1:{Q}/tcp"))
        clean(box.tries(box.usual(serve=[Q, f"{Q}/udp"], name="named"),
                        [(what, "ok") for what in attempts], share))


def test_libraries_that_listen(box):
    """Python's and node's servers run on a declared port."""
    node = f"require('net').createServer().listen({P}, () => process.exit(0))"
    clean(box.run(box.usual(serve=[P]), "node", "-e", node))
    result = box.run(box.usual(name="none"), "node", "-e", node)
    equal({v["surface"] for v in result.violations}, {"serve"}, "surface")
    equal(result.code, 3, "exit code")
    agent = start(box, box.usual(serve=[P]), PYTHON, "-m", "http.server", str(P), "--bind",
                  "127.0.0.1", "--directory", box.r)
    page = ["curl", "-sS", "--retry", "20", "--retry-connrefused", "--retry-delay", "1",
            f"http://127.0.0.1:{P}/f"]
    equal(subprocess.run(page, capture_output=True, text=True, check=True).stdout, "read me\n",
          "the page")
    agent.terminate()
    until(lambda: agent.poll() is not None, "the server's end")


RANGE = """
import struct
def chosen(port, family=socket.AF_INET):
    s = socket.socket(family, socket.SOCK_DGRAM)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.setsockopt(socket.IPPROTO_IP, 51, struct.pack("=I", port | port << 16))
def other(port):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.setsockopt(socket.IPPROTO_IP, socket.IP_TTL, 8)
    s.bind(("", 0))
"""


def test_choosing_for_the_kernel(box):
    """A port that the kernel chooses is free for datagrams, but not the range it chooses from:
    of one port that would be any (IP_LOCAL_PORT_RANGE, since 6.3; refused before, too)."""
    violated(box.tries(box.usual(), [(f"chosen({Q})", "EPERM"),
                                     (f"chosen({Q}, socket.AF_INET6)", "EPERM"),
                                     (f"other({Q})", "ok")], RANGE),
             ("kernel", "socket option 51"))
