# SPDX-License-Identifier: Apache-2.0
"""Does the packet filter hold what the socket hooks do not see?"""
import os
import socket
import subprocess
import time

from far import FarEnd
from lib import ATTEMPT, PYTHON, check, equal, violated


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


# To the declared address by way of another: a source route in the socket's options, which needs
# CAP_NET_RAW, or for IPv6 a routing header with the datagram, which needs nothing.
ROUTED = """
def plain(family, to):
    socket.socket(family, socket.SOCK_DGRAM).sendto(b"x", to)
def by_option(kind, hop, to):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    route = bytes((kind, 7, 4)) + socket.inet_aton(hop) + b"\\1"
    s.setsockopt(socket.IPPROTO_IP, socket.IP_OPTIONS, route)
    s.sendto(b"x", to)
def by_header(hop, to):
    s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
    header = bytes((0, 2, 2, 1)) + bytes(4) + socket.inet_pton(socket.AF_INET6, hop)
    s.sendmsg([b"x"], [(socket.IPPROTO_IPV6, socket.IPV6_RTHDR, header)], 0, to)
four, six = ("198.51.100.9", 53), ("fd00:f:1::9", 53)
attempt(plain, socket.AF_INET, four)
attempt(plain, socket.AF_INET6, six)
attempt(by_option, 131, "198.51.100.2", four)
attempt(by_option, 137, "198.51.100.2", four)
attempt(by_header, "fd00:f:1::2", six)
"""


def test_routes_of_ones_own(box):
    """A datagram to a declared address that is routed by way of an undeclared one does not leave."""
    def wire():
        far = FarEnd(box, "wire0", "fd00:f:1::2", 9)
        for command in ("addr add 198.51.100.1/24 dev wire0",
                        "-6 addr add fd00:f:1::1/64 dev wire0 nodad",
                        "neigh add 198.51.100.2 lladdr 02:00:00:00:00:02 dev wire0",
                        "neigh add 198.51.100.9 lladdr 02:00:00:00:00:02 dev wire0",
                        "neigh add fd00:f:1::2 lladdr 02:00:00:00:00:02 dev wire0",
                        "neigh add fd00:f:1::9 lladdr 02:00:00:00:00:02 dev wire0"):
            subprocess.run(["ip", *command.split()], check=True)
        return far

    def arrived(far):
        found = [word for word in far.end() if "198.51.100." in word or "fd00:f:1::" in word]
        subprocess.run("ip link del wire0; ip netns del wire0", shell=True, check=True)
        return found

    plain = ["packet 198.51.100.9 17", "packet fd00:f:1::9 17"]
    pack = box.usual(egress=[("198.51.100.9", 53, "quic"), ("fd00:f:1::9", 53, "quic")])
    far = wire()
    result = box.python(pack, ROUTED)
    time.sleep(0.3)
    equal(arrived(far), plain, "packets of the run")
    equal(result.out.split(), ["ok"] * 2 + ["EPERM"] * 3, "answers")
    equal((result.code, result.events[-1]["dropped"]), (3, 1), "exit code and packets dropped")
    far = wire()
    outside = subprocess.run([PYTHON, "-c", ATTEMPT + ROUTED], capture_output=True, text=True,
                             check=True)
    time.sleep(0.3)
    equal(outside.stdout.split(), ["ok"] * 5, "answers outside of a run")
    equal(arrived(far), plain + ["packet 198.51.100.2 17"] * 2 + ["packet fd00:f:1::2 43"],
          "packets from outside of a run")
