# SPDX-License-Identifier: Apache-2.0
"""Is a port listened on only where `serve` lists it?

The tests connect and send from outside while the agent keeps what it got: what they reach decides.
"""
import os
import socket

from lib import clean, equal, meanwhile, violated, wait

SERVE = """
kept = []
def bound(kind, port, host, protocol=0):
    s = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, kind, protocol)
    kept.append(s)
    s.bind((host, port))
    return s
def tcp(port, host="127.0.0.1", protocol=0):
    bound(socket.SOCK_STREAM, port, host, protocol).listen(8)
def mptcp(port):
    tcp(port, protocol=262)
def udp(port, host="127.0.0.1"):
    bound(socket.SOCK_DGRAM, port, host)
def tcp_unbound():
    kept.append(socket.socket())
    kept[-1].listen(8)
def hold(there, over):
    open(there, "w").close()
    wait(over)
"""


def listens(port, address="127.0.0.1"):
    """Whether somebody takes connections there."""
    with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET) as s:
        s.settimeout(5)
        return s.connect_ex((address, port)) == 0


def takes_datagrams(port):
    """Whether somebody is bound there: else a datagram is answered that nobody is."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.settimeout(1)
        s.connect(("127.0.0.1", port))
        s.send(b"x")
        try:
            s.recv(1)
        except ConnectionRefusedError:
            return False
        except TimeoutError:
            pass
        return True


def tries(box, serve, attempts, look=lambda: None, **more):
    """The attempts of an agent with that `serve`, and look() from outside afterwards."""
    there, over = box.path("W/there"), box.path("W/over")
    for path in (there, over):
        if os.path.exists(path):
            os.unlink(path)

    def outside():
        wait(there)
        try:
            look()
        finally:
            open(over, "w").close()

    pack = box.usual(extra=f"    serve: {serve}\n" if serve else "")
    with meanwhile(outside):
        return box.tries(pack, attempts + [(f"hold({there!r}, {over!r})", "ok")], before=SERVE,
                         **more)


def test_declared_ports(box):
    """What is listed is listened on at every address, and reached from outside."""
    def look():
        equal([listens(8001), listens(8001, "::1"), listens(8002), listens(8003)],
              [True] * 4, "TCP")
        equal(takes_datagrams(8004), True, "UDP")

    clean(tries(box, "[8001, 8002/tcp, 8003, 8004/udp]",
                [("tcp(8001, '0.0.0.0')", "ok"), ("tcp(8001, '::1')", "ok"),
                 ("tcp(8002)", "ok"), ("mptcp(8003)", "ok"), ("udp(8004)", "ok")], look))


def test_undeclared_ports(box):
    """What is not listed is not: nobody is there for those outside."""
    def look():
        equal([listens(8001), listens(9001), listens(9001, "::1"), listens(9002), listens(8004)],
              [True, False, False, False, False], "TCP")
        equal([takes_datagrams(8004), takes_datagrams(9004), takes_datagrams(8001)],
              [True, False, False], "UDP")

    result = tries(
        box, "[8001, 8004/udp]",
        [("tcp(8001)", "ok"), ("tcp(9001, '0.0.0.0')", "EACCES"), ("tcp(9001, '::1')", "EACCES"),
         ("mptcp(9002)", "EACCES"), ("tcp(8004)", "EACCES"), ("udp(8004)", "ok"),
         ("udp(9004)", "EACCES"), ("udp(9004, '::1')", "EACCES"), ("udp(8001)", "EACCES")], look)
    violated(result, ("serve", "0.0.0.0:9001/tcp"), ("serve", "[::1]:9001/tcp"),
             ("serve", "127.0.0.1:9002/tcp"), ("serve", "127.0.0.1:8004/tcp"),
             ("serve", "127.0.0.1:9004/udp"), ("serve", "[::1]:9004/udp"),
             ("serve", "127.0.0.1:8001/udp"))
    fixes = {v["requested"]: v["fix"] for v in result.violations}
    equal(fixes["0.0.0.0:9001/tcp"], "capabilities:\n  serve:\n    - 9001", "fix")
    equal(fixes["[::1]:9004/udp"], "capabilities:\n  serve:\n    - 9004/udp", "fix")
    equal({v["op"] for v in result.violations if v["requested"].endswith("/tcp")}, {"listen"}, "op")
    equal({v["op"] for v in result.violations if v["requested"].endswith("/udp")}, {"bind"}, "op")


def test_ports_that_the_kernel_chooses(box):
    """They are taken freely, as every client does; to listen on one, "*" must be declared."""
    bind = [("bound(socket.SOCK_STREAM, 0, '127.0.0.1')", "ok"), ("udp(0)", "ok")]
    clean(tries(box, None, bind))
    result = tries(box, "[8001]", bind + [("tcp(0)", "EACCES"), ("tcp_unbound()", "EACCES")])
    equal({v["surface"] for v in result.violations}, {"serve"}, "surface")
    unbound = [v for v in result.violations if v["requested"] == "0.0.0.0:0/tcp"]
    equal(["cannot be named" in v["fix"] for v in unbound], [True], "the fix of a chosen port")
    clean(tries(box, '["*"]', bind + [("tcp(0)", "ok"), ("tcp_unbound()", "ok"),
                                      ("tcp(9001)", "ok")]))
    violated(tries(box, '["*"]', [("tcp(9001)", "ok"), ("udp(9004)", "EACCES")]),
             ("serve", "127.0.0.1:9004/udp"))
    violated(tries(box, '["*/udp"]', [("udp(9004)", "ok"), ("tcp(9001)", "EACCES")]),
             ("serve", "127.0.0.1:9001/tcp"))


def test_faults_of_serve(box):
    """A pack whose `serve` cannot be held to is not run, and is told where."""
    pack = box.usual(extra="    serve: [8001]\n")
    clean(box.run(pack, "true"))
    pack = box.usual(extra="    serve: [80-90]\n")
    equal(box.comet("pack", "validate", pack).code, 0, "the format's own verdict")
    result = box.run(pack, "touch", box.path("W/ran"))
    equal(result.code, 2, "exit code")
    equal("expected a port from 1 to 65535" in result.err, True, "the sentence")
    equal(os.path.exists(box.path("W/ran")), False, "the command ran")
