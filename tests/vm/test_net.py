# SPDX-License-Identifier: Apache-2.0
"""Does the network end where the manifest ends?

In the names of the tests: A is a declared address, X an undeclared one; both have a listener.
"""
import os
import socket
import subprocess

from lib import PROBES, check, clean, equal, violated

NET = f"{PROBES}/net"
UNIX = f"{PROBES}/unix"


def listeners(box, kind=socket.SOCK_STREAM, a="127.0.0.1", x="127.0.0.2"):
    return box.listen(kind, a), box.listen(kind, x)


def both(box, a="127.0.0.1", x="127.0.0.2"):
    """Listeners A and X, each for TCP and UDP; and a pack that grants A."""
    tcp_a, tcp_x = listeners(box, socket.SOCK_STREAM, a, x)
    udp_a, udp_x = listeners(box, socket.SOCK_DGRAM, a, x)
    pack = box.usual(egress=[(a, tcp_a.port, "http"), (a, udp_a.port, "quic")])
    return tcp_a, tcp_x, udp_a, udp_x, pack


def show(address):
    return f"[{address}]" if ":" in address else address


def asked(listener, address=None, protocol=None):
    """The event of a refused try to reach the listener."""
    word = protocol or ("tcp" if listener.kind == socket.SOCK_STREAM else "udp")
    return "egress", f"{show(address or listener.address)}:{listener.port}/{word}"


def order(operation, *targets):
    return " ".join([operation] + [f"{t.address} {t.port}" for t in targets])


def answers(result, expected):
    """expected: list of (what was tried, its answer)."""
    equal(list(zip([what for what, _ in expected], result.out.split())), expected, "answers")


def attempt(box, pack, expected, **more):
    result = box.run(pack, NET, *[what for what, _ in expected], **more)
    answers(result, expected)
    return result


def silent(*some):
    for listener in some:
        equal(listener.settled(), [], f"what arrived at {listener.address}:{listener.port}")


def test_tcp_connect(box):
    """TCP reaches the declared address; another one answers ECONNREFUSED and gets nothing."""
    a, x, _, _, pack = both(box)
    ways = ("tcp", "uring-connect", "uring-socket")
    allowed = [(order(way, a), "ok") for way in ways]
    clean(attempt(box, pack, allowed))
    check(b"connection" in a.settled(), "A was not reached")
    result = attempt(box, pack, allowed + [(order(way, x), "ECONNREFUSED") for way in ways])
    violated(result, asked(x))
    equal({v["errno"] for v in result.violations}, {"ECONNREFUSED"}, "errno")
    equal({v["op"] for v in result.violations}, {"connect"}, "op")
    silent(x)


def test_udp_send_without_connect(box):
    """A datagram to an undeclared address is refused in every way to send it."""
    _, _, a, x, pack = both(box)
    ways = ("udp", "udp-msg", "udp-unspec", "uring-send")
    result = attempt(box, pack, [(order(way, a), "ok") for way in ways]
                     + [(order("udp-mmsg", a, a), "2")])
    clean(result)
    equal(len(a.settled()), len(ways) + 2, "datagrams at A")
    result = attempt(box, pack, [(order(way, x), "ECONNREFUSED") for way in ways]
                     + [(order("udp-mmsg", x, a), "ECONNREFUSED")])
    violated(result, asked(x))
    equal({v["op"] for v in result.violations}, {"send"}, "op")
    silent(x)


def test_udp_batch_stops_at_the_refused_datagram(box):
    """In one sendmmsg the datagram to A goes out, the one to X does not."""
    _, _, a, x, pack = both(box)
    violated(attempt(box, pack, [(order("udp-mmsg", a, x), "1")]), asked(x))
    equal(len(a.settled()), 1, "datagrams at A")
    silent(x)


def test_udp_connected_socket_cannot_stray(box):
    """A socket connected to A cannot send to X, and still reaches A afterwards."""
    _, _, a, x, pack = both(box)
    violated(attempt(box, pack, [(order("udp-stray", a, x), "ok+ok+ECONNREFUSED+ok")]), asked(x))
    equal(len(a.settled()), 2, "datagrams at A")
    silent(x)


def test_udp_connect_alone_is_no_violation(box):
    """A UDP connect sends nothing and is free, as libc sorts addresses by it; a send is not."""
    _, _, a, x, pack = both(box)
    clean(attempt(box, pack, [
        (order("udp-connect", x), "ok"),
        (order("dissolve", x), "ok+ok+EDESTADDRREQ"),
        (order("dissolve", a), "ok+ok+EDESTADDRREQ"),
        (order("udp-dial", a), "ok")]))
    equal(len(a.settled()), 1, "datagrams at A")
    violated(attempt(box, pack, [(order("udp-dial", x), "ECONNREFUSED")]), asked(x))
    silent(x)


def test_tcp_fast_open(box):
    """Fast open, by sendto, sendmsg or a deferred connect, opens no way around the connect."""
    sysctl = "/proc/sys/net/ipv4/tcp_fastopen"
    with open(sysctl, encoding="ascii") as f:
        before = f.read()

    def setting(text):
        with open(sysctl, "w", encoding="ascii") as f:
            f.write(text)

    box.closers.append(lambda: setting(before))
    # Client and server, without cookies, for every listener: data travels in the first packet.
    setting(str(0x1 | 0x2 | 0x4 | 0x200 | 0x400))
    a, x, _, _, pack = both(box)
    ways = ("tfo", "tfo-msg", "tfo-connect")
    clean(attempt(box, pack, [(order(way, a), "ok") for way in ways]))
    equal(a.settled().count(b"connection"), len(ways), "connections at A")
    violated(attempt(box, pack, [(order(way, x), "ECONNREFUSED")
                                 for way in (*ways, "tfo-unspec", "mptcp-tfo")]), asked(x))
    silent(x)


def test_mptcp(box):
    """An MPTCP socket is judged as the TCP that it speaks."""
    a, x, _, _, pack = both(box)
    clean(attempt(box, pack, [(order("mptcp", a), "ok")]))
    check(b"connection" in a.settled(), "A was not reached")
    violated(attempt(box, pack, [(order("mptcp", x), "ECONNREFUSED")]), asked(x))
    silent(x)


def test_ipv4_in_ipv6_form(box):
    """::ffff:a.b.c.d is the IPv4 address that it names, for TCP and UDP."""
    tcp_a, tcp_x, udp_a, udp_x, pack = both(box)

    def mapped(operation, listener):
        return f"{operation} ::ffff:{listener.address} {listener.port}"

    clean(attempt(box, pack, [
        (mapped("tcp", tcp_a), "ok"), (mapped("mptcp", tcp_a), "ok"),
        (mapped("udp", udp_a), "ok"), (mapped("udp-dial", udp_a), "ok")]))
    check(tcp_a.settled().count(b"connection") == 2, "A was not reached by TCP")
    equal(len(udp_a.settled()), 2, "datagrams at A")
    violated(attempt(box, pack, [
        (mapped("tcp", tcp_x), "ECONNREFUSED"), (mapped("mptcp", tcp_x), "ECONNREFUSED"),
        (mapped("udp", udp_x), "ECONNREFUSED"), (mapped("udp-dial", udp_x), "ECONNREFUSED"),
        (mapped("udp-unspec-peer", udp_x), "ECONNREFUSED"),
        (mapped("tfo", tcp_x), "ECONNREFUSED")]), asked(tcp_x), asked(udp_x))
    silent(tcp_x, udp_x)


def test_ipv6_is_not_left_open(box):
    """A manifest with IPv4 entries alone, or with none, refuses IPv6; declared IPv6 works."""
    tcp, udp = box.listen(socket.SOCK_STREAM, "::1"), box.listen(socket.SOCK_DGRAM, "::1")
    _, x, _, udp_x, pack = both(box)
    tries = [(order("tcp", tcp), "ECONNREFUSED"), (order("mptcp", tcp), "ECONNREFUSED"),
             (order("tfo", tcp), "ECONNREFUSED"), (order("udp", udp), "ECONNREFUSED"),
             (order("udp-dial", udp), "ECONNREFUSED"),
             (order("udp-unspec-peer", udp), "ECONNREFUSED")]
    violated(attempt(box, pack, tries), asked(tcp), asked(udp))
    violated(attempt(box, box.usual(name="none"), tries + [
        (order("tcp", x), "ECONNREFUSED"), (order("udp", udp_x), "ECONNREFUSED")]),
        asked(tcp), asked(udp), asked(x), asked(udp_x))
    silent(tcp, udp, x, udp_x)
    six = box.usual(egress=[("::1", tcp.port, "http"), ("::1", udp.port, "quic")], name="six")
    clean(attempt(box, six, [
        (order("tcp", tcp), "ok"), (order("udp", udp), "ok"), (order("udp-dial", udp), "ok"),
        (order("udp-unspec-peer", udp), "ok")]))
    check(b"connection" in tcp.settled(), "the declared IPv6 listener was not reached")
    equal(len(udp.settled()), 3, "datagrams at the declared IPv6 listener")


def test_ranges_end_at_their_edges(box):
    """A declared range reaches from its first to its last address, in both families."""
    subprocess.run(["ip", "-6", "route", "replace", "local", "fd00:9::/64", "dev", "lo"],
                   check=True)
    four, six = box.listen(address="0.0.0.0"), box.listen(address="::")
    pack = box.usual(egress=[("127.9.8.4/30", four.port, "http"),
                             ("fd00:9::10/124", six.port, "http")])
    clean(attempt(box, pack, [
        (f"tcp 127.9.8.4 {four.port}", "ok"), (f"tcp 127.9.8.7 {four.port}", "ok"),
        (f"tcp fd00:9::10 {six.port}", "ok"), (f"tcp fd00:9::1f {six.port}", "ok")]))
    equal(four.settled().count(b"connection"), 2, "connections by IPv4")
    equal(six.settled().count(b"connection"), 2, "connections by IPv6")
    outside = [("127.9.8.3", four), ("127.9.8.8", four), ("fd00:9::f", six), ("fd00:9::20", six)]
    violated(attempt(box, pack, [(f"tcp {a} {listener.port}", "ECONNREFUSED")
                                 for a, listener in outside]),
             *[asked(listener, a) for a, listener in outside])
    equal(four.settled().count(b"connection"), 2, "connections by IPv4")
    equal(six.settled().count(b"connection"), 2, "connections by IPv6")


def test_port_and_transport_count(box):
    """A grant is for one port by one transport: the others of the same address are refused."""
    tcp, other = box.listen(), box.listen()
    udp = box.listen(socket.SOCK_DGRAM, port=tcp.port)
    pack = box.usual(egress=[("127.0.0.1", tcp.port, "http")])
    clean(attempt(box, pack, [(order("tcp", tcp), "ok")]))
    violated(attempt(box, pack, [
        (order("tcp", other), "ECONNREFUSED"), (order("udp", udp), "ECONNREFUSED")]),
        asked(other), asked(udp))
    silent(other, udp)
    pack = box.usual(egress=[("127.0.0.1", udp.port, "quic")], name="quic")
    before = len(tcp.settled())
    violated(attempt(box, pack, [(order("tcp", tcp), "ECONNREFUSED"), (order("udp", udp), "ok")]),
             asked(tcp))
    equal(len(udp.settled()), 1, "datagrams at A")
    equal(len(tcp.settled()), before, "what arrived by TCP")


def test_entries_that_say_too_little(box):
    """An entry without a port or protocol opens nothing silently: the pack is refused. A name that
    does not resolve is warned of and grants nothing; alone it leaves everything closed."""
    a, x = listeners(box)
    for rule in '{host: 127.0.0.2, proto: http}', f'{{host: 127.0.0.2, port: {x.port}}}', \
            f'{{port: {x.port}, proto: http}}', '{host: 127.0.0.2, port: 0, proto: http}':
        with open(box.pack(name="short"), encoding="utf-8") as f:
            text = f.read().replace("network_out: []", f"network_out: [{rule}]")
        result = box.run(box.file("short.yaml", text), NET, order("tcp", x))
        equal((result.code, result.out), (2, ""), f"a rule {rule}: {result.err}")
        check("short.yaml:" in result.err, result.err)
    nothing = box.usual(egress=[("no-such.invalid", x.port, "http")], name="nothing")
    violated(attempt(box, nothing, [(order("tcp", x), "ECONNREFUSED"),
                                    (order("tcp", a), "ECONNREFUSED")]), asked(x), asked(a))
    words = box.comet("run", nothing, "--", NET)
    check("no-such.invalid does not resolve" in words.err, words.err)
    some = box.usual(egress=[("no-such.invalid", x.port, "http"), ("127.0.0.1", a.port, "http")],
                     name="some")
    violated(attempt(box, some, [(order("tcp", x), "ECONNREFUSED"), (order("tcp", a), "ok")]),
             asked(x))
    silent(x)


AF_PACKET, AF_NETLINK, AF_ALG, AF_VSOCK, AF_XDP = 17, 16, 38, 40, 44
STREAM, DGRAM, RAW = 1, 2, 3


def test_raw_and_packet_sockets(box):
    """Raw, packet and other sockets that no rule could judge: EPERM, for root too."""
    refused = [(AF_PACKET, RAW, 768), (AF_PACKET, DGRAM, 768), (socket.AF_INET, RAW, 255),
               (socket.AF_INET, RAW, 6), (socket.AF_INET, RAW, 1), (socket.AF_INET6, RAW, 58),
               (socket.AF_INET, DGRAM, 1), (socket.AF_INET, DGRAM, 136),
               (socket.AF_INET, STREAM, 132), (AF_NETLINK, RAW, 9), (AF_NETLINK, RAW, 12),
               (AF_NETLINK, DGRAM, 11), (AF_ALG, 5, 0), (AF_VSOCK, STREAM, 0), (AF_XDP, RAW, 0)]
    result = attempt(box, box.usual(), [(f"socket {f} {t} {p}", "EPERM") for f, t, p in refused]
                     + [(f"socket {f} {t} {p}", "ok") for f, t, p in (
                         (socket.AF_INET, STREAM, 0), (socket.AF_INET, STREAM, 6),
                         (socket.AF_INET6, DGRAM, 17), (socket.AF_UNIX, 5, 0),
                         (AF_NETLINK, RAW, 0))])
    violated(result, *[("kernel", f"family {int(f)} type {t}") for f, t, _ in refused])
    equal({v["uid"] for v in result.violations}, {0}, "uid")


def test_unix_sockets_outside_the_run(box):
    """A UNIX socket outside is refused, whether its file could be read or it is abstract."""
    stream, dgram = socket.SOCK_STREAM, socket.SOCK_DGRAM
    refused = [box.listen_unix(stream, box.path("R/stream")),
               box.listen_unix(dgram, box.path("R/dgram")),
               box.listen_unix(stream, box.path("stream")),
               box.listen_unix(stream, "@outside-stream"),
               box.listen_unix(dgram, "@outside-dgram")]
    granted = [box.listen_unix(stream, box.path("W/stream")),
               box.listen_unix(dgram, box.path("W/dgram"))]

    def tries(some, answer):
        return [(f"connect {s.address}", answer) if s.kind == stream
                else (f"send {s.address}", "+".join([answer] * 3)) for s in some]

    expected = tries(granted, "ok")
    result = box.run(box.usual(), UNIX, *[what for what, _ in expected])
    answers(result, expected)
    clean(result)
    for s in granted:
        check(s.settled(), f"nothing arrived at {s.address}")
    expected = tries(refused, "ECONNREFUSED")
    result = box.run(box.usual(), UNIX, *[what for what, _ in expected])
    answers(result, expected)
    violated(result, *[("ipc", s.address) for s in refused])
    silent(*refused)


def test_unix_sockets_inside_the_run(box):
    """Inside the run UNIX sockets work: by path, abstract, in pairs, with descriptors passed."""
    result = box.run(box.usual(), UNIX, f"inside-stream {box.path('W/s')}",
                     f"inside-dgram {box.path('W/d')}", "inside-stream @inside-stream",
                     "inside-dgram @inside-dgram", "pair")
    equal(result.out.split(), ["ok"] * 5, "answers")
    clean(result)
    check(os.path.exists(box.path("W/s")), "the socket file was not made in W")


def test_descendants_are_held_too(box):
    """A grandchild without the environment of its parents is held like its parent."""
    a, x, _, _, pack = both(box)
    pack = box.usual(egress=[("127.0.0.1", a.port, "http")], programs=["env", NET], name="sh")
    inner = f"env -i env -i {NET} '{order('tcp', a)}' '{order('tcp', x)}' & wait $!"
    result = box.run(pack, "/bin/sh", "-c", inner)
    equal(result.out.split(), ["ok", "ECONNREFUSED"], "answers")
    violated(result, asked(x))
    silent(x)


def test_bash_network_redirections(box):
    """bash's /dev/tcp and /dev/udp are network and not file accesses."""
    tcp_a, tcp_x, udp_a, udp_x, pack = both(box)
    script = "".join(f"echo x > /dev/{way}/{s.address}/{s.port}\n" for way, s in (
        ("tcp", tcp_a), ("udp", udp_a), ("tcp", tcp_x), ("udp", udp_x)))
    violated(box.run(pack, "/bin/bash", "-c", script), asked(tcp_x), asked(udp_x))
    check(b"x\n" in tcp_a.settled() and b"x\n" in udp_a.settled(), "A was not reached")
    silent(tcp_x, udp_x)
