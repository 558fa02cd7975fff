import HandoffDiscovery
import HandoffTestSupport
import LoopIO
import Testing

@Suite(.timeLimit(.minutes(5))) struct StaticDiscoveryTests {
    @Test(arguments: [
        ("192.0.2.1:80", "192.0.2.1:80"), ("[2001:DB8::1]:80", "[2001:db8::1]:80"),
        ("Host.Example.org:24863", "host.example.org:24863"), ("host:1", "host:1"), ("host.:1", "host:1"),
        ("[fe80::1%lo]:5", "[fe80::1%lo]:5"),
    ])
    func `parses peers`(_ text: String, _ canonical: String) throws {
        let peer = try #require(StaticPeer(text: text))
        #expect(peer.description == canonical)
        #expect(StaticPeer(text: canonical) == peer)
        #expect(peer.instance == "static:\(canonical)")
    }

    @Test(arguments: [
        "", ":", "host", "host:", ":80", "host:0", "host:65536", "host:x", "a:b:80", "::1:80", "[host]:80", "ho st:80",
        "-\\:80", "224.0.0.1:80", "0.0.0.0:80", "[ff02::1]:80", "host:+1", "a..b:80",
    ])
    func `rejects invalid peers`(_ text: String) {
        #expect(StaticPeer(text: text) == nil)
    }

    @Test func `reports peers and their removal`() async throws {
        let peer = try #require(StaticPeer(text: "192.0.2.1:80"))
        let other = try #require(StaticPeer(text: "localhost:81"))
        let collector = EventCollector()
        let discovery = StaticDiscovery(
            peers: [peer], logger: Logger(subsystem: "test", sink: MemorySink(), level: .fault))
        discovery.start(collector.handler)
        await collector.wait(for: "static:192.0.2.1:80") { $0.addresses.map(\.description) == ["192.0.2.1:80"] }
        discovery.add(other)
        await collector.wait(for: "static:localhost:81") { $0.addresses.contains { $0.isLoopback && $0.port == 81 } }
        discovery.remove(peer)
        await collector.wait { $0 == .removed(instance: "static:192.0.2.1:80") }
        discovery.remove(peer)
        await discovery.stopped()
        #expect(collector.events.count { $0 == .removed(instance: "static:192.0.2.1:80") } == 1)
    }

    @Test func `looks up a requested name but not a numeric address`() async throws {
        let peer = try #require(StaticPeer(text: "localhost:81"))
        let number = try #require(StaticPeer(text: "192.0.2.1:80"))
        let collector = EventCollector()
        let discovery = StaticDiscovery(
            peers: [number, peer], logger: Logger(subsystem: "test", sink: MemorySink(), level: .fault))
        discovery.start(collector.handler)
        await collector.wait(for: number.instance)
        await collector.wait(for: peer.instance)
        collector.clear()
        discovery.lookUp(instance: number.instance)
        discovery.lookUp(instance: "static:nosuch:1")
        discovery.lookUp(instance: peer.instance)
        await collector.wait(for: peer.instance) { $0.addresses.contains { $0.isLoopback } }
        await discovery.stopped()
        #expect(
            !collector.events.contains {
                if case .service(let service) = $0 { service.instance == number.instance } else { false }
            })
    }

    @Test func `reports again after a refresh`() async throws {
        try await Self.refresh(times: 1)
    }

    /// If the delay doubled with each refresh, this would take more than a minute, and the device
    /// would be offline for that time.
    @Test(.timeLimit(.minutes(1)))
    func `each refresh of an address is answered soon, regardless of earlier ones`() async throws {
        try await Self.refresh(times: 7)
    }

    /// Refreshes an address, and waits for the reply to each refresh.
    private static func refresh(times: Int) async throws {
        let peer = try #require(StaticPeer(text: "192.0.2.1:80"))
        let collector = EventCollector()
        let discovery = StaticDiscovery(
            peers: [peer], logger: Logger(subsystem: "test", sink: MemorySink(), level: .fault))
        discovery.start(collector.handler)
        await collector.wait(for: peer.instance)
        for _ in 0..<times {
            collector.clear()
            discovery.refresh(instance: peer.instance)
            await collector.wait(for: peer.instance)
        }
        await discovery.stopped()
    }
}
