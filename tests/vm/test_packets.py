# SPDX-License-Identifier: Apache-2.0
"""Does the packet filter hold what the socket hooks do not see?"""
import os
import socket

from lib import check, equal


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
