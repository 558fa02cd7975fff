import HandoffDiscovery
import HandoffEmbeddedDiscovery
import HandoffTestSupport
import LoopIO
import Testing

/// Two real responders on the loopback interface, each on its own thread, like two processes.
///
/// Instance names are random, because another run on the same machine receives them, too.
@Suite(.timeLimit(.minutes(5)), .serialized) struct EmbeddedDiscoveryTests {
    private let one: EmbeddedDiscovery
    private let other: EmbeddedDiscovery
    private let collector = EventCollector()
    private let publication = Publication(
        instance: name(), host: name(), port: 24863, text: [Array("v=1".utf8), Array("first".utf8)])

    init() {
        let options = DiscoveryOptions(interfaces: ["lo"])
        let logger = Logger(subsystem: "test", sink: MemorySink(), level: .fault)
        one = EmbeddedDiscovery(options: options, logger: logger)
        other = EmbeddedDiscovery(options: options, logger: logger)
        for discovery in [one, other] { discovery.setMembership { _ in true } }
        other.start(collector.handler)
        one.start { _ in }
    }

    private static func name() -> String {
        String((0..<26).map { _ in "abcdefghijklmnopqrstuvwxyz234567".randomElement() ?? "a" })
    }

    private static func contains(_ text: String, _ service: DiscoveredService) -> Bool {
        service.text?.contains(Array(text.utf8)) == true
    }

    @Test func `reports name, port, text and loopback address`() async throws {
        one.publish(publication)
        await collector.wait(for: publication.instance) { service in
            Self.contains("first", service) && service.port == 24863
                && service.addresses.contains { $0.isLoopback && $0.port == 24863 }
        }
        await one.stopped()
        await other.stopped()
    }

    @Test func `reports a new text`() async throws {
        one.publish(publication)
        await collector.wait(for: publication.instance) { Self.contains("first", $0) }
        var changed = publication
        changed.text = [Array("v=1".utf8), Array("second".utf8), Array(repeating: 0xff, count: 250)]
        one.publish(changed)
        await collector.wait(for: publication.instance) { Self.contains("second", $0) && !Self.contains("first", $0) }
        await one.stopped()
        await other.stopped()
    }

    @Test func `sends goodbye packets when it stops`() async throws {
        one.publish(publication)
        await collector.wait(for: publication.instance)
        await one.stopped()
        let removal = DiscoveryEvent.removed(instance: publication.instance)
        await collector.wait { $0 == removal }
        await other.stopped()
    }

    @Test func `announces the new before it withdraws the old`() async throws {
        one.publish(publication)
        await collector.wait(for: publication.instance)
        let next = Publication(instance: Self.name(), host: Self.name(), port: 24863, text: [Array("next".utf8)])
        one.publish(next)
        let removal = DiscoveryEvent.removed(instance: publication.instance)
        await collector.wait { $0 == removal }
        let events = collector.events
        let appeared = events.firstIndex {
            if case .service(let service) = $0 { service.instance == next.instance } else { false }
        }
        #expect(try #require(appeared) < (try #require(events.firstIndex(of: removal))))
        await one.stopped()
        await other.stopped()
    }

    @Test func `never reports itself`() async throws {
        other.publish(publication)
        let second = Publication(instance: Self.name(), host: Self.name(), port: 24863, text: [])
        one.publish(second)
        await collector.wait(for: second.instance) { !$0.addresses.isEmpty }
        #expect(
            !collector.events.contains {
                if case .service(let service) = $0 { service.instance == publication.instance } else { false }
            })
        await one.stopped()
        await other.stopped()
    }

    @Test func `responds to a device that starts later`() async throws {
        one.publish(publication)
        await collector.wait(for: publication.instance) { !$0.addresses.isEmpty }
        let late = EmbeddedDiscovery(
            options: DiscoveryOptions(interfaces: ["lo"]),
            logger: Logger(subsystem: "test", sink: MemorySink(), level: .fault))
        let lateCollector = EventCollector()
        late.setMembership { _ in true }
        late.start(lateCollector.handler)
        await lateCollector.wait(for: publication.instance) { Self.contains("first", $0) && !$0.addresses.isEmpty }
        for discovery in [one, other, late] { await discovery.stopped() }
    }
}
