# SPDX-License-Identifier: Apache-2.0
"""Which kinds of sockets can be made at all?"""
import socket
import subprocess

from lib import ATTEMPT, PYTHON, check, clean, equal, violated

# The last is Linux 2.0's SOCK_PACKET: with AF_INET another name for AF_PACKET.
STREAM, DGRAM, RAW, RDM, SEQPACKET, DCCP, PACKET = TYPES = 1, 2, 3, 4, 5, 6, 10
FAMILIES = range(46)
AF_PACKET, AF_NETLINK = 17, 16

# What a manifest can judge, and interface listings; the kernel itself does not know the others.
ALLOWED = {socket.AF_UNIX: {STREAM: "ok", DGRAM: "ok", RAW: "ok", SEQPACKET: "ok"},
           socket.AF_INET: {STREAM: "ok", DGRAM: "ok"},
           socket.AF_INET6: {STREAM: "ok", DGRAM: "ok"},
           AF_NETLINK: {DGRAM: "ok", RAW: "ok"}}
UNKNOWN = "ESOCKTNOSUPPORT"

MAKE_ALL = f"""
for family in range({len(FAMILIES)}):
    for kind in {TYPES}:
        attempt(lambda: socket.socket(family, kind, 0).close())
"""


def expected(family, kind):
    if family in (socket.AF_UNIX, AF_NETLINK):
        return ALLOWED[family].get(kind, UNKNOWN)
    return ALLOWED.get(family, {}).get(kind, "EPERM")


def named(family, kind):
    return "kernel", f"family {AF_PACKET if (family, kind) == (2, PACKET) else int(family)} " \
                     f"type {kind}"


def modules():
    with open("/proc/modules", encoding="ascii") as f:
        return {line.split()[0] for line in f}


def test_every_family_and_type(box):
    """Of all families and types only those that a manifest can judge give a socket; each other one
    is an event and makes the kernel load no module."""
    all_of_them = [(f, t) for f in FAMILIES for t in TYPES]
    before = modules()
    for user in "root", "agent":
        result = box.python(box.usual(), MAKE_ALL, options=["--user", user])
        found = dict(zip(all_of_them, result.out.split()))
        equal(len(found), len(all_of_them), "answers")
        wrong = {pair: word for pair, word in found.items() if word != expected(*pair)}
        equal(wrong, {}, f"unexpected answers as {user}")
        violated(result, *[named(*pair) for pair in all_of_them if expected(*pair) == "EPERM"])
    equal(modules() - before, set(), "modules loaded on the agent's behalf")
    outside = subprocess.run([PYTHON, "-c", ATTEMPT + MAKE_ALL], capture_output=True, text=True,
                             check=True).stdout.split()
    made = {f for (f, _), word in zip(all_of_them, outside) if word == "ok"}
    check(made > set(ALLOWED) | {AF_PACKET}, f"families outside of a run: {made}")
    check(modules() > before, "outside of a run the kernel loads modules for them")


# (family, type, protocol): what speaks another language than TCP or UDP, or none that can be read.
PROTOCOLS = [
    (socket.AF_INET, STREAM, 132), (socket.AF_INET, SEQPACKET, 132),    # SCTP
    (socket.AF_INET6, STREAM, 132),
    (socket.AF_INET, DCCP, 33), (socket.AF_INET, DGRAM, 136),           # DCCP, UDP-Lite
    (socket.AF_INET6, DGRAM, 136), (socket.AF_INET, DGRAM, 115),        # L2TP
    (socket.AF_INET, STREAM, 256), (socket.AF_INET6, STREAM, 256),      # SMC
    (socket.AF_INET, RAW, 255), (socket.AF_INET6, RAW, 255),            # headers of one's own
    (socket.AF_INET, RAW, 6), (socket.AF_INET, RAW, 17), (socket.AF_INET, RAW, 1),
    (socket.AF_INET6, RAW, 58), (socket.AF_INET, RAW, 2),               # ICMPv6, IGMP
    (AF_PACKET, RAW, 768), (AF_PACKET, DGRAM, 768), (socket.AF_INET, PACKET, 768),
]


def test_every_other_protocol(box):
    """In the families that are let through, every other protocol is refused."""
    make = "".join(f"attempt(lambda: socket.socket({f}, {t}, {p}).close())\n"
                   for f, t, p in [(int(f), t, p) for f, t, p in PROTOCOLS])
    for user in "root", "agent":
        result = box.python(box.usual(), make, options=["--user", user])
        equal(result.out.split(), ["EPERM"] * len(PROTOCOLS), f"answers as {user}")
        violated(result, *[named(f, t) for f, t, _ in PROTOCOLS])
    outside = subprocess.run([PYTHON, "-c", ATTEMPT + make], capture_output=True, text=True,
                             check=True).stdout.split()
    check(outside.count("ok") >= 8, f"outside of a run: {outside}")


PING = """
import struct
def ping(family, protocol, kind, to):
    s = socket.socket(family, socket.SOCK_DGRAM, protocol)
    s.settimeout(5)
    s.sendto(struct.pack("!BBHHH", kind, 0, 0, 0, 1) + b"data", (to, 0))
    s.recv(100)
attempt(ping, socket.AF_INET, 1, 8, "127.0.0.1")
attempt(ping, socket.AF_INET6, 58, 128, "::1")
"""


def test_ping(box):
    """Ping sockets are refused, also to an address that is declared for TCP or UDP, where the host
    lets every user ping; a manifest cannot ask for icmp."""
    setting = "/proc/sys/net/ipv4/ping_group_range"
    with open(setting, encoding="ascii") as f:
        before = f.read()

    def who_may(text):
        with open(setting, "w", encoding="ascii") as f:
            f.write(text)

    box.closers.append(lambda: who_may(before))
    who_may("0 2147483647")
    pack = box.usual(egress=[(a, p, "http") for a in ("127.0.0.1", "::1") for p in (1, 7)])
    for user in "root", "agent":
        result = box.python(pack, PING, options=["--user", user])
        equal(result.out.split(), ["EPERM"] * 2, f"answers as {user}")
        violated(result, named(socket.AF_INET, DGRAM), named(socket.AF_INET6, DGRAM))
    outside = subprocess.run([PYTHON, "-c", ATTEMPT + PING], capture_output=True, text=True,
                             check=True, user=1000, group=1000, extra_groups=[])
    equal(outside.stdout.split(), ["ok"] * 2, "outside of a run")
    icmp = box.comet("pack", "validate", box.pack(egress=[("127.0.0.1", 1, "icmp")], name="icmp"))
    equal(icmp.code, 2, "exit code of a pack that asks for icmp")


# An address for lo, a route, another length of its queue.
CHANGE = """
import struct
def message(kind, body, flags=0x605):
    s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
    s.sendto(struct.pack("=IHHII", 16 + len(body), kind, flags, 1, 0) + body, (0, 0))
    answer = s.recv(65536)
    code = -struct.unpack_from("=i", answer, 16)[0]
    if struct.unpack_from("=H", answer, 4)[0] == 2 and code:
        raise OSError(code, "refused")
def attribute(kind, data):
    return struct.pack("=HH", 4 + len(data), kind) + data
address = bytes((127, 44, 0, 1))
lo = socket.if_nametoindex("lo")
attempt(message, 20, struct.pack("=BBBBI", 2, 32, 0, 0, lo) + attribute(2, address))
attempt(message, 24, struct.pack("=BBBBBBBBI", 2, 32, 0, 0, 254, 3, 253, 1, 0)
        + attribute(1, bytes((198, 51, 100, 7))) + attribute(4, struct.pack("=I", lo)))
attempt(message, 16, struct.pack("=BxHiII", 0, 0, lo, 0, 0)
        + attribute(13, struct.pack("=I", 777)), 5)
"""


def show_network():
    return "".join(subprocess.run(["ip", *what.split()], capture_output=True, text=True,
                                  check=True).stdout
                   for what in ("addr show dev lo", "route show", "link show dev lo"))


def test_netlink(box):
    """Interfaces and routes can be listed, not changed; other netlink families are refused."""
    before = show_network()
    listing = box.run(box.usual(programs=["ip"]), "/bin/sh", "-c", "ip addr; ip route; ip link")
    clean(listing)
    check("127.0.0.1/8" in listing.out, "the listing")
    for user in "root", "agent":
        result = box.python(box.usual(), CHANGE, options=["--user", user])
        equal(result.out.split(), ["EPERM"] * 3, f"answers as {user}")
        equal(show_network(), before, "the host's network")
    try:
        outside = subprocess.run([PYTHON, "-c", ATTEMPT + CHANGE], capture_output=True, text=True,
                                 check=True)
        equal(outside.stdout.split(), ["ok"] * 3, "outside of a run")
        check(show_network() != before, "outside of a run the network changes")
    finally:
        subprocess.run(["ip", "addr", "del", "127.44.0.1/32", "dev", "lo"], check=False)
        subprocess.run(["ip", "route", "del", "198.51.100.7/32"], check=False)
        subprocess.run(["ip", "link", "set", "lo", "txqueuelen", "1000"], check=False)
    families = range(1, 23)
    result = box.python(box.usual(), "".join(
        f"attempt(lambda: socket.socket(16, 3, {p}).close())\n" for p in families))
    equal(result.out.split(), ["EPERM"] * len(families), "netlink families")
    violated(result, named(AF_NETLINK, RAW))
    equal(sum(v["count"] for v in result.violations), len(families), "refusals told")
