# SPDX-License-Identifier: Apache-2.0
"""Is an address what it says, in all its forms?"""
import socket
import subprocess

from far import FarEnd
from lib import PROBES, add_hosts, check, clean, equal, violated
from test_net import asked, attempt, both, order, show, silent

NET = f"{PROBES}/net"
STREAM, DGRAM = socket.SOCK_STREAM, socket.SOCK_DGRAM


def ip(box, *command, undo=None):
    subprocess.run(["ip", *command], check=True)
    if undo:
        box.closers.append(lambda: subprocess.run(["ip", *undo], check=False,
                                                  stderr=subprocess.DEVNULL))


def test_unspecified_addresses(box):
    """0.0.0.0, :: and 127.0.0.2 lead to this host, and are no other name of 127.0.0.1 or ::1."""
    forms = ["0.0.0.0", "::", "::ffff:0.0.0.0", "127.0.0.2"]
    tcp = [box.listen(STREAM, "0.0.0.0")]
    port = tcp[0].port
    tcp.append(box.listen(STREAM, "::", port))
    udp = [box.listen(DGRAM, "0.0.0.0", port), box.listen(DGRAM, "::", port)]
    every = [f"{way} {form} {port}" for form in forms for way in ("tcp", "udp", "mptcp", "tfo")]
    outside = subprocess.run([NET, *every], capture_output=True, text=True, check=True)
    equal(outside.stdout.split(), ["ok"] * len(every), "outside of a run")
    check(len(tcp[0].settled()) > 0 and len(tcp[1].got) > 0, "they reach this host")
    for listener in tcp + udp:
        listener.got.clear()
    refused = [(what, "ECONNREFUSED") for what in every]
    # ::ffff:0.0.0.0 is told as the address that it names.
    events = [("egress", f"{show(form)}:{port}/{t}")
              for form in ("0.0.0.0", "::", "127.0.0.2") for t in ("tcp", "udp")]
    loopback = box.usual(egress=[(a, port, p) for a in ("127.0.0.1", "::1")
                                 for p in ("http", "quic")], name="loopback")
    violated(attempt(box, box.usual(name="none"), refused), *events)
    violated(attempt(box, loopback, refused), *events)
    silent(*tcp, *udp)
    clean(attempt(box, loopback, [(f"{way} {a} {port}", "ok") for way in ("tcp", "udp")
                                  for a in ("127.0.0.1", "::1")]))


def test_metadata_services(box):
    """The addresses of cloud metadata services are reached where they are declared literally,
    not by a wildcard, in no form and by no name."""
    four, six = "169.254.169.254", "fd00:ec2::254"
    ip(box, "link", "add", "meta0", "type", "dummy", undo=["link", "del", "meta0"])
    ip(box, "link", "set", "meta0", "up")
    ip(box, "addr", "add", f"{four}/32", "dev", "meta0")
    ip(box, "-6", "addr", "add", f"{six}/128", "dev", "meta0", "nodad")
    add_hosts(box, f"{four} metadata.test\n{six} metadata.test\n")
    http = [box.listen(STREAM, four, 80), box.listen(STREAM, six, 80)]
    udp = [box.listen(DGRAM, four, 80), box.listen(DGRAM, six, 80)]
    tries = [order(way, s) for way in ("tcp", "mptcp", "tfo") for s in http]
    tries += [order(way, s) for way in ("udp", "udp-dial", "udp-msg") for s in udp]
    tries += [f"{way} ::ffff:{four} 80" for way in ("tcp", "tfo", "udp")]
    events = [asked(s) for s in http + udp]
    refused = [(what, "ECONNREFUSED") for what in tries]
    for name, egress in (("none", []), ("all", [("*", 80, "http"), ("*", 80, "quic")]),
                         ("other", [("169.254.169.253", 80, "http"), (four, 81, "http")])):
        violated(attempt(box, box.usual(egress=egress, name=name), refused), *events)
    every = box.usual(egress=[("*", 80, "http")], name="all", programs=["curl"])
    fetch = ["curl", "-sS", "--max-time", "20", "http://metadata.test/latest"]
    violated(box.run(every, *fetch), asked(http[0]), asked(http[1]))
    silent(*http, *udp)
    literally = box.usual(egress=[(a, 80, p) for a in (four, six) for p in ("http", "quic")],
                          name="literally")
    clean(attempt(box, literally, [(what, "ok") for what in tries]))
    for s in http + udp:
        check(s.settled(), f"nothing arrived at {s.address}")


def test_ipv4_inside_ipv6(box):
    """NAT64 and 6to4 addresses are not the IPv4 address inside; a wildcard does not reach this
    host's or a private network through them, but reaches public addresses."""
    for prefix in "64:ff9b::/96", "2002::/16":
        ip(box, "-6", "route", "replace", "local", prefix, "dev", "lo",
           undo=["-6", "route", "del", "local", prefix, "dev", "lo"])
    tcp, udp = box.listen(STREAM, "::"), box.listen(DGRAM, "::")
    four = box.listen(STREAM, "127.0.0.1", tcp.port)
    inside = ["64:ff9b::127.0.0.1", "64:ff9b::169.254.169.254", "64:ff9b::10.1.2.3",
              "2002:7f00:1::1", "2002:a9fe:a9fe::", "2002:c0a8:101::1"]
    public = ["64:ff9b::8.8.8.8", "2002:808:808::1"]
    tries = [(f"tcp {a} {tcp.port}", "ECONNREFUSED") for a in inside]
    tries += [(f"udp {a} {udp.port}", "ECONNREFUSED") for a in inside]

    def text(address):
        return socket.inet_ntop(socket.AF_INET6, socket.inet_pton(socket.AF_INET6, address))

    events = [e for a in inside for e in (asked(tcp, text(a)), asked(udp, text(a)))]
    for name, egress in (
            ("four", [(a, p, w) for a in ("127.0.0.1", "169.254.169.254", "10.1.2.3")
                      for p, w in ((tcp.port, "http"), (udp.port, "quic"))]),
            ("all", [("*", tcp.port, "http"), ("*", udp.port, "quic")])):
        violated(attempt(box, box.usual(egress=egress, name=name), tries), *events)
    silent(tcp, udp, four)
    clean(attempt(box, box.usual(egress=[("*", tcp.port, "http"), ("*", udp.port, "quic")],
                                 name="all"),
                  [(f"tcp {a} {tcp.port}", "ok") for a in public]
                  + [(f"udp {a} {udp.port}", "ok") for a in public]))
    equal(tcp.settled().count(b"connection"), len(public), "connections")
    equal(len(udp.settled()), len(public), "datagrams")


# Sends to one address; a broadcast needs a word of its own.
SEND = """
def send(family, to, how=lambda s: None):
    s = socket.socket(family, socket.SOCK_DGRAM)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
    how(s)
    s.sendto(b"x", to)
def by_it(s):
    s.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton("192.0.2.1"))
"""


def test_broadcast_and_multicast(box):
    """Datagrams to a broadcast or multicast address go out if that very address is declared; an
    address of the network, or a wildcard, does not cover it."""
    broadcast, group, group6 = "192.0.2.255", "239.1.2.3", "ff02::7"
    ip(box, "link", "add", "cast0", "type", "dummy", undo=["link", "del", "cast0"])
    ip(box, "link", "set", "cast0", "up")
    ip(box, "addr", "add", "192.0.2.1/24", "broadcast", broadcast, "dev", "cast0")
    ip(box, "-6", "addr", "add", "fd00:cab::1/64", "dev", "cast0", "nodad")
    zone = socket.if_nametoindex("cast0")
    some = box.listen(DGRAM, "0.0.0.0"), box.listen(DGRAM, "::")
    port, port6 = some[0].port, some[1].port
    some[0].socket.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP,
                              socket.inet_aton(group) + socket.inet_aton("192.0.2.1"))
    some[1].socket.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_JOIN_GROUP,
                              socket.inet_pton(socket.AF_INET6, group6)
                              + zone.to_bytes(4, "little"))
    tries = [f"send(socket.AF_INET, ({broadcast!r}, {port}))",
             f"send(socket.AF_INET, ({group!r}, {port}), by_it)",
             f"send(socket.AF_INET6, ({group6!r}, {port6}, 0, {zone}))"]
    events = [("egress", f"{show(a)}:{p}/udp") for a, p in (
        (broadcast, port), (group, port), (f"{group6}%cast0", port6))]
    for name, egress in (("host", [("192.0.2.1", port, "quic"), ("fd00:cab::1", port6, "quic")]),
                         ("all", [("*", port, "quic"), ("*", port6, "quic")])):
        violated(box.tries(box.usual(egress=egress, name=name),
                           [(what, "ECONNREFUSED") for what in tries], SEND), *events)
    silent(*some)
    pack = box.usual(egress=[(broadcast, port, "quic"), (group, port, "quic"),
                             (group6, port6, "quic")], name="named")
    clean(box.tries(pack, [(what, "ok") for what in tries], SEND))
    equal((len(some[0].settled()), len(some[1].settled())), (2, 1), "datagrams")


ALIKE = """
import struct
def six(address, port, other):
    # The bytes of the IPv4 address first, and last what made its event's key (family, type).
    packed = socket.inet_aton(address) + bytes(4) + struct.pack("<Q", other)
    socket.socket(socket.AF_INET6, socket.SOCK_DGRAM).sendto(
        b"x", (socket.inet_ntop(socket.AF_INET6, packed), port))
def four(address, port):
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", (address, port))
"""


def test_addresses_that_look_alike(box):
    """No address hides another one in the same event, whatever its bytes are."""
    others = [0, (2 ^ 10) << 32, (2 << 32 | 17) ^ (10 << 32 | 17), 10 << 48, 2 << 48 | 17 << 32]
    tries = [(f"six('203.0.113.5', 4242, {other})", "ECONNREFUSED") for other in others]
    pack = box.usual(egress=[("127.0.0.1", 4242, "quic")])
    result = box.tries(pack, tries + [("four('203.0.113.5', 4242)", "ECONNREFUSED"),
                                      ("four('127.0.0.1', 4242)", "ok")], ALIKE)
    asked = [v["requested"] for v in result.violations]
    equal((result.code, len(set(asked)), asked[-1]), (3, len(set(others)) + 1,
          "203.0.113.5:4242/udp"), "exit code, addresses told, the last one")


BY_ZONE = """
def tcp(address, port, zone):
    s = socket.socket(socket.AF_INET6, socket.SOCK_STREAM)
    s.settimeout(10)
    s.connect((address, port, 0, zone))
def udp(address, port, zone):
    socket.socket(socket.AF_INET6, socket.SOCK_DGRAM).sendto(b"x", (address, port, 0, zone))
def dial(address, port, zone):
    s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
    s.connect((address, port, 0, zone))
    s.send(b"x")
def bound(address, port, zone):
    s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, socket.if_indextoname(zone).encode())
    s.sendto(b"x", (address, port))
"""


def test_link_local_addresses(box):
    """A link-local address is another host behind each interface: with a zone, the manifest means
    the one behind that interface; without, that address behind every one."""
    address, port = "fe80::77", 4477
    ends = [FarEnd(box, name, address, port) for name in ("zone1", "zone2")]
    for end in ends:
        ip(box, "addr", "add", f"fe80::{end.zone}/64", "dev", socket.if_indextoname(end.zone),
           "nodad")
    ways = [f"{way}({address!r}, {port}, {end.zone})" for end in ends
            for way in ("tcp", "udp", "dial", "bound")]
    events = [("egress", f"[{address}%zone{n}]:{port}/{t}") for n in (1, 2)
              for t in ("tcp", "udp")]
    refused = [(what, "ECONNREFUSED") for what in ways]
    # An event of its own for each zone: equal ones within a second are folded.
    refused[4:4] = [("time.sleep(1.2)", "ok")]
    violated(box.tries(box.usual(egress=[("fe80::78", port, "http"), ("*", port, "quic")]),
                       refused, BY_ZONE), *events)
    zoned = [(f"{address}%zone1", port, protocol) for protocol in ("http", "quic")]
    violated(box.tries(box.usual(egress=zoned, name="zoned"),
                       [(what, "ok" if i < 4 else "ECONNREFUSED") for i, what in enumerate(ways)],
                       BY_ZONE), *events[2:])
    for host, code, why in (f"{address}%nil", 125, "no network interface"), \
            ("fd00::1%zone1", 2, "a zone is"):
        wrong = box.run(box.usual(egress=[(host, port, "http")], name="wrong"), NET)
        equal((wrong.code, why in wrong.err), (code, True), f"{host}: {wrong.err}")
    clean(box.tries(box.usual(egress=[(address, port, "http"), (address, port, "quic")],
                              name="every"), [(what, "ok") for what in ways], BY_ZONE))
    for end, arrived in zip(ends, (["tcp"] * 2 + ["udp"] * 6, ["tcp"] + ["udp"] * 3)):
        equal(sorted(what for what in end.end() if what in ("tcp", "udp")), arrived, "what arrived")
