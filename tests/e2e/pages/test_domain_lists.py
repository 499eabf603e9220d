"""Domain lists hold for everything a page does, because all its traffic goes through the proxy."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

import pytest

from roost import ops
from roost.errors import UrlBlocked
from tests.support.agent import refused
from tests.support.house import House
from tests.support.local_web import Answer, Web

HERE_ONLY = ("127.0.0.1",)

# Everything a page can send somewhere, and a promise that each has been tried.
TRY_EVERYTHING = """async () => {
  const there = %r;
  const tried = [];
  const attempt = (name, promise) =>
    tried.push(promise.then(() => `${name} got through`, () => `${name} failed`));
  attempt("fetch", fetch(there + "?fetch", {mode: "no-cors"}));
  attempt("image", new Promise((ok, no) => {
    const image = new Image(); image.onload = ok; image.onerror = no; image.src = there + "?image";
  }));
  attempt("script", new Promise((ok, no) => {
    const script = document.createElement("script");
    script.onload = ok; script.onerror = no; script.src = there + "?script";
    document.body.append(script);
  }));
  attempt("socket", new Promise((ok, no) => {
    const socket = new WebSocket(there.replace("http", "ws") + "?socket");
    socket.onopen = ok; socket.onerror = no; socket.onclose = no;
  }));
  attempt("worker", new Promise((ok, no) => {
    const code = `fetch(${JSON.stringify(there + "?worker")}, {mode: "no-cors"})
      .then(() => postMessage("ok"), () => postMessage("no"))`;
    const worker = new Worker(URL.createObjectURL(new Blob([code])));
    worker.onmessage = e => e.data === "ok" ? ok() : no(); worker.onerror = no;
  }));
  navigator.sendBeacon(there + "?beacon", "x");
  return Promise.all(tried);
}"""


async def test_nothing_a_page_does_reaches_a_site_outside_the_lists(house: House, web: Web) -> None:
    async with house.agent(web, allow=HERE_ONLY) as agent:
        there = web.there(web.serve(b"secret"))
        await agent.show("<p>here</p>")

        await agent.call(ops.Evaluate(function=TRY_EVERYTHING % there))

        # A fetch that the proxy answers itself resolves too; what counts is what the site saw.
        assert web.requested(there) == []


async def test_an_allowed_site_works_normally(house: House, web: Web) -> None:
    async with house.agent(web, allow=HERE_ONLY) as agent:
        data = web.serve(Answer(b'{"a": 1}', kind="application/json"))
        await agent.show("<p>here</p>")
        function = f"() => fetch({data!r}).then(r => r.json())"

        assert (await agent.call(ops.Evaluate(function=function))).value == {"a": 1}


async def test_a_blocked_address_is_refused_before_anything_is_sent(house: House, web: Web) -> None:
    async with house.agent(web, allow=HERE_ONLY) as agent:
        there = web.there(web.page("<p>there</p>"))

        with pytest.raises(UrlBlocked):
            await agent.go(there)
        assert web.requested(there) == []


async def test_redirects_and_popups_do_not_get_around_the_lists(house: House, web: Web) -> None:
    async with house.agent(web, allow=HERE_ONLY) as agent:
        there = web.there(web.page("<p>there</p>"))
        moved = web.serve(Answer(status=302, headers={"Location": there}))
        secure = web.serve(Answer(status=302, headers={"Location": there.replace("http", "https")}))
        await agent.show("<p>here</p>")

        for address in (moved, secure):
            error = await refused(UrlBlocked, agent.go(address))
            assert error.details["host"] == "localhost"
        opened = await agent.call(ops.Evaluate(function=f"() => {{ window.open({there!r}) }}"))

        assert opened.value is None
        await agent.call(ops.Tabs(action="list"))
        assert web.requested(there) == []


@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_a_name_that_resolves_to_a_denied_address_is_blocked(
    house: House, web: Web, scheme: str
) -> None:
    name = socket.gethostname()
    try:
        address = socket.gethostbyname(name)
    except OSError:
        pytest.skip("this machine's name does not resolve")
    async with house.agent(web, deny=(address,)) as agent:
        error = await refused(UrlBlocked, agent.go(f"{scheme}://{name}:{web.port}/"))
        assert error.details["host"] == name.lower()


async def test_a_deny_list_leaves_everything_else_open(house: House, web: Web) -> None:
    async with house.agent(web, deny=("localhost",)) as agent:
        denied = web.there(web.serve(b"secret"))
        await agent.show("<p>here</p>")
        function = f"() => fetch({denied!r}, {{mode: 'no-cors'}}).then(() => 0, () => 1)"

        await agent.call(ops.Evaluate(function=function))

        assert web.requested(denied) == []


async def test_the_lists_hold_after_the_broker_was_killed(own_house: House, web: Web) -> None:
    async with own_house.agent(web, allow=HERE_ONLY) as agent:
        denied = web.there(web.serve(b"secret"))
        here = web.serve(b"fine")
        await agent.show("<p>here</p>")
        own_house.kill_broker()
        await agent.call(ops.Snapshot())
        both = (
            f"() => Promise.allSettled([fetch({denied!r}, {{mode: 'no-cors'}}),"
            f" fetch({here!r}).then(r => r.text())]).then(([_, fine]) => fine.value)"
        )

        assert (await agent.call(ops.Evaluate(function=both))).value == "fine"
        assert web.requested(denied) == []


async def test_a_session_without_lists_can_open_every_site(house: House, web: Web) -> None:
    """Without this, the tests above would prove nothing."""
    async with house.agent(web) as agent:
        there = web.there(web.serve(b"open"))
        await agent.show("<p>here</p>")

        await agent.call(ops.Evaluate(function=TRY_EVERYTHING % there))

        ways = {request.path.partition("?")[2] for request in web.requested(there)}
        assert {"fetch", "image", "script", "socket", "worker"} <= ways


SPELLINGS = (
    "127.0.0.1 127.1 0 0.0.0.0 0x7f.1 2130706433 127.0.0.1. [::ffff:127.0.0.1] [::ffff:7f00:1]"
    " [::] [::1] localhost LOCALHOST. x.localhost"
).split()
TRY_SPELLINGS = """async (hosts) => {
  const tried = hosts.flatMap(host => [
    fetch(`http://${host}:%d%s?${host}`, {mode: "no-cors"}),
    new Promise((ok, no) => {
      const socket = new WebSocket(`ws://${host}:%d%s?${host}`);
      socket.onopen = ok; socket.onerror = no; socket.onclose = no;
    }),
  ]);
  await Promise.allSettled(tried);
}"""


@pytest.mark.parametrize("deny", [("127.0.0.1", "::1"), ("loopback",), ("private",)])
async def test_a_denied_address_is_blocked_in_every_spelling(
    house: House, web: Web, deny: tuple[str, ...]
) -> None:
    async with house.agent(web, deny=deny) as agent:
        url = web.serve(b"secret")
        path = urlsplit(url).path
        await agent.go("about:blank")
        function = TRY_SPELLINGS % (web.port, path, web.port, path)
        await agent.run(f"() => ({function})({SPELLINGS})")
        for host in SPELLINGS:
            await refused(UrlBlocked, agent.go(f"http://{host}:{web.port}{path}"))

        assert web.requested(url) == []


async def test_a_page_cannot_reach_roosts_own_ports(house: House, web: Web) -> None:
    """The filtering proxy runs in the broker, which is the person's own process."""
    async with house.operator() as operator:
        address = (await operator.call(ops.Status())).broker.http
    assert address is not None
    async with house.agent(web, allow=HERE_ONLY) as agent:
        error = await refused(UrlBlocked, agent.go(f"{address}/healthz"))
        assert "Roost's own" in error.message


# Every way in which WebRTC and WebTransport talk to an address: servers named in the configuration,
# candidates the page makes up, over UDP and TCP. Ends when the browser has gathered its candidates
# and has begun to check pairs, or has nothing to begin with.
TRY_ALL_PEERS = """async () => {
  const [udp, tcp] = [%d, %d];
  const login = {username: "u", credential: "c"};
  const servers = [
    {urls: `stun:127.0.0.1:${udp}`},
    {urls: `turn:127.0.0.1:${udp}?transport=udp`, ...login},
    {urls: `turn:127.0.0.1:${tcp}?transport=tcp`, ...login},
    {urls: `turns:127.0.0.1:${tcp}?transport=tcp`, ...login},
  ];
  const within = (promise, ms) => Promise.race([promise, new Promise(ok => setTimeout(ok, ms))]);
  const gathered = peer => new Promise(ok => {
    const look = () => peer.iceGatheringState === "complete" && ok();
    peer.addEventListener("icegatheringstatechange", look);
    look();
  });
  const alone = iceServers => {
    const peer = new RTCPeerConnection({iceServers});
    peer.createDataChannel("x");
    peer.setLocalDescription();
    return within(gathered(peer), 3000);
  };
  const toCandidates = async () => {
    const [one, two] = [new RTCPeerConnection(), new RTCPeerConnection()];
    one.createDataChannel("x");
    await one.setLocalDescription();
    await two.setRemoteDescription(one.localDescription);
    await two.setLocalDescription();
    const sdp = two.localDescription.sdp.replace(/a=candidate.*\\r\\n/g, "");
    await one.setRemoteDescription({type: "answer", sdp});
    for (const candidate of [
      `candidate:1 1 udp 2122260223 127.0.0.1 ${udp} typ host`,
      `candidate:2 1 tcp 1518280447 127.0.0.1 ${tcp} typ host tcptype passive`,
    ])
      await one.addIceCandidate({candidate, sdpMid: "0"}).catch(() => 0);
    await within(gathered(one), 3000);
    await within(new Promise(ok => {
      one.oniceconnectionstatechange = () => one.iceConnectionState === "failed" && ok();
    }), 1000);
  };
  const quic = async () => {
    await new WebTransport(`https://127.0.0.1:${udp}/`).ready;
  };
  await Promise.allSettled([
    ...servers.map(server => alone([server])), toCandidates(), within(quic(), 2000),
  ]);
}"""


class _Heard(asyncio.DatagramProtocol):
    def __init__(self) -> None:
        self.packets: list[bytes] = []

    def datagram_received(self, data: bytes, addr: object) -> None:
        self.packets.append(data)


@asynccontextmanager
async def ears() -> AsyncIterator[tuple[int, int, list[bytes], list[bytes]]]:
    """Return a UDP port and a TCP port, and what each received."""
    loop = asyncio.get_running_loop()
    heard = _Heard()
    connections: list[bytes] = []

    async def accepted(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connections.append(await reader.read(4096))
        writer.close()

    transport, _ = await loop.create_datagram_endpoint(lambda: heard, ("127.0.0.1", 0))
    async with await asyncio.start_server(accepted, "127.0.0.1", 0) as server:
        udp, tcp = transport.get_extra_info("sockname")[1], server.sockets[0].getsockname()[1]
        yield udp, tcp, heard.packets, connections
    transport.close()


async def test_webrtc_sends_no_packet_from_a_session_with_lists(house: House, web: Web) -> None:
    async with ears() as (udp, tcp, packets, connections):
        async with house.agent(web, allow=("localhost",)) as agent:
            await agent.go(web.there(web.page("<p>here</p>")))
            await agent.run(TRY_ALL_PEERS % (udp, tcp))

    assert (packets, connections) == ([], [])
