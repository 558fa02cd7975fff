import HandoffDiscovery
import HandoffLog
import HandoffTestSupport
import LoopIO
import Testing

/// A discovery that does what the test says.
private final class FakeDiscovery: Discovery {
    private struct State {
        var onEvent: (@Sendable (DiscoveryEvent) -> Void)?
        var publications: [Publication?] = []
        var refreshed: [String] = []
        var isStopped = false
    }

    let kind: DiscoveryKind
    private let state = Locked(State())

    init(_ kind: DiscoveryKind) { self.kind = kind }

    var publications: [Publication?] { state.withLock { $0.publications } }
    var isStopped: Bool { state.withLock { $0.isStopped } }
    var refreshed: [String] { state.withLock { $0.refreshed } }

    func tell(_ event: DiscoveryEvent) {
        let onEvent = state.withLock { $0.onEvent }
        onEvent?(event)
    }

    func start(_ onEvent: @escaping @Sendable (DiscoveryEvent) -> Void) { state.withLock { $0.onEvent = onEvent } }
    func publish(_ publication: Publication?) { state.withLock { $0.publications.append(publication) } }
    func setMembership(_ isMember: @escaping @Sendable (String) -> Bool) {}
    func refresh(instance: String) { state.withLock { $0.refreshed.append(instance) } }
    func stop(_ done: @escaping @Sendable () -> Void) {
        state.withLock { $0.isStopped = true }
        done()
    }
}

@Suite(.timeLimit(.minutes(5))) struct AutomaticDiscoveryTests {
    private let avahi = FakeDiscovery(.avahi)
    private let made = Locked<[FakeDiscovery]>([])
    private let collector = EventCollector()
    private let discovery: AutomaticDiscovery

    init() async {
        let made = made
        discovery = AutomaticDiscovery(
            avahi: avahi,
            embedded: {
                let embedded = FakeDiscovery(.embedded)
                made.withLock { $0.append(embedded) }
                return embedded
            }, logger: Logger(subsystem: "test", sink: MemorySink(), level: .fault))
        discovery.start(collector.handler)
        await reachThread()
    }

    /// Waits until the discovery's thread has done what was asked before.
    private func reachThread() async {
        let name = "probe-\(collector.events.count)-\(avahi.refreshed.count)"
        discovery.refresh(instance: name)
        while !avahi.refreshed.contains(name) { await Task.yield() }
    }

    private func embedded() throws -> FakeDiscovery { try #require(made.withLock { $0.last }) }

    @Test func `starts the embedded one with what is published`() async throws {
        let publication = Publication(instance: "a", host: "h", port: 1, text: [])
        discovery.publish(publication)
        avahi.tell(.state(.avahi, .unavailable("none")))
        await reachThread()
        #expect(try embedded().publications == [publication])
        try embedded().tell(.state(.embedded, .running))
        await collector.wait { $0 == .state(.embedded, .running) }
        #expect(discovery.kind == .embedded)
        #expect(collector.events == [.state(.embedded, .running)])
        await discovery.stopped()
    }

    @Test func `removes only what nobody sees`() async throws {
        avahi.tell(.state(.avahi, .unavailable("none")))
        await reachThread()
        let embedded = try embedded()
        embedded.tell(.service(DiscoveredService(instance: "a", port: 1)))
        embedded.tell(.service(DiscoveredService(instance: "b", port: 1)))
        avahi.tell(.state(.avahi, .running))
        await reachThread()
        #expect(embedded.isStopped)
        #expect(discovery.kind == .avahi)
        avahi.tell(.service(DiscoveredService(instance: "a", port: 1)))
        // What an ended one still says does not count.
        embedded.tell(.removed(instance: "a"))
        embedded.tell(.service(DiscoveredService(instance: "late")))
        avahi.tell(.removed(instance: "a"))
        await reachThread()
        // The embedded one knew it too and was not asked for its goodbye: the sweep after all-for-now decides.
        #expect(!collector.events.contains(.removed(instance: "a")))
        #expect(!collector.events.contains(.service(DiscoveredService(instance: "late"))))
        avahi.tell(.allForNow)
        await collector.wait { $0 == .removed(instance: "b") }
        #expect(collector.events.contains(.removed(instance: "a")))
        await discovery.stopped()
    }

    @Test func `avahi tells of the network while it is in use`() async throws {
        avahi.tell(.state(.avahi, .running))
        avahi.tell(.networkChanged)
        avahi.tell(.conflict(instance: "x"))
        await collector.wait { $0 == .conflict(instance: "x") }
        #expect(collector.events.count { $0 == .networkChanged } == 1)
        await discovery.stopped()
        #expect(avahi.isStopped)
    }

    @Test func `the embedded one alone tells of the network while it is in use`() async throws {
        avahi.tell(.state(.avahi, .unavailable("none")))
        await reachThread()
        avahi.tell(.networkChanged)
        try embedded().tell(.networkChanged)
        try embedded().tell(.conflict(instance: "x"))
        await collector.wait { $0 == .conflict(instance: "x") }
        #expect(collector.events.count { $0 == .networkChanged } == 1)
        await discovery.stopped()
        #expect(avahi.isStopped)
        #expect(try embedded().isStopped)
    }

    @Test func `stops also before it was started`() async {
        let discovery = AvahiDiscovery(
            options: DiscoveryOptions(), logger: Logger(subsystem: "test", sink: MemorySink(), level: .fault))
        await discovery.stopped()
        await self.discovery.stopped()
    }
}
