# SPDX-License-Identifier: Apache-2.0
"""Does the packet filter hold what the socket hooks do not see?"""
import os
import socket
import subprocess

from lib import check, equal, violated


def test_sendfile_to_a_connected_socket(box):
    """sendfile to an undeclared address sends nothing, is counted and ends in exit 3; to a
    declared one it arrives. Before 6.5 no LSM hook sees it, so there the filter must drop it."""
    declared = box.listen(socket.SOCK_DGRAM)
    undeclared = box.listen(socket.SOCK_DGRAM)
    pack = box.usual(egress=[("127.0.0.1", declared.port, "quic")])
    result = box.python(pack, f"""
for port in ({declared.port}, {undeclared.port}):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.connect(("127.0.0.1", port))
    with open({box.path('R/f')!r}, "rb") as f:
        try:
            print(os.sendfile(s.fileno(), f.fileno(), 0, 4))
        except OSError:
            print("refused")
""")
    equal(result.out.split(), ["4", "refused"])
    equal((declared.settled(), undeclared.got), ([b"read"], []), "arrived")
    equal(result.code, 3, "exit code")
    end = result.events[-1]
    equal(end["violations"], 1, "violations")
    old = tuple(map(int, os.uname().release.split("-")[0].split(".")[:2])) < (6, 5)
    check(end["dropped"] == (1 if old else 0), f"dropped {end['dropped']}")


def test_connected_to_port_zero(box):
    """Port 0 is an address like any other: a send on a socket connected to it is refused by the
    hook; one on a socket connected to a declared port arrives, one on no address is no violation."""
    declared = box.listen(socket.SOCK_DGRAM)
    pack = box.usual(egress=[("127.0.0.1", declared.port, "quic")])
    result = box.python(pack, f"""
def send(family, to):
    s = socket.socket(family, socket.SOCK_DGRAM)
    if to:
        s.connect(to)
    s.send(b"x")
attempt(send, socket.AF_INET, ("127.0.0.1", {declared.port}))
attempt(send, socket.AF_INET6, None)
attempt(send, socket.AF_INET, ("127.0.0.1", 0))
attempt(send, socket.AF_INET6, ("::1", 0))
""")
    equal(result.out.split(), ["ok", "EDESTADDRREQ", "ECONNREFUSED", "ECONNREFUSED"])
    equal(declared.settled(), [b"x"], "arrived")
    violated(result, ("egress", "127.0.0.1:0/udp"), ("egress", "[::1]:0/udp"))


def test_low_limit_on_open_files(box):
    """Under too low a limit for the order in which a run ends, nothing is started."""
    command = 'ulimit -n %d; exec comet run "$0" -- /bin/echo ran'
    low = subprocess.run(["/bin/sh", "-c", command % 200, box.usual()], capture_output=True,
                         text=True, check=False)
    equal((low.returncode, low.stdout), (125, ""), f"low limit: {low.stderr}")
    check("limit on open files" in low.stderr, low.stderr)
    enough = subprocess.run(["/bin/sh", "-c", command % 1024, box.usual()], capture_output=True,
                            text=True, check=False)
    equal((enough.returncode, enough.stdout), (0, "ran\n"), f"usual limit: {enough.stderr}")
