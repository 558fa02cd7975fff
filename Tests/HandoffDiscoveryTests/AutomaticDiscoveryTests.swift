import HandoffDiscovery
import HandoffTestSupport
import LoopIO
import Testing

/// A discovery that the test controls.
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

    func send(_ event: DiscoveryEvent) {
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
    private let created = Locked<[FakeDiscovery]>([])
    private let collector = EventCollector()
    private let discovery: AutomaticDiscovery

    init() async {
        let created = created
        discovery = AutomaticDiscovery(
            avahi: avahi,
            embedded: {
                let embedded = FakeDiscovery(.embedded)
                created.withLock { $0.append(embedded) }
                return embedded
            }, logger: Logger(subsystem: "test", sink: MemorySink(), level: .fault))
        discovery.start(collector.handler)
        await reachThread()
    }

    /// Waits until the discovery's thread has handled all earlier commands.
    private func reachThread() async {
        let name = "probe-\(collector.events.count)-\(avahi.refreshed.count)"
        discovery.refresh(instance: name)
        while !avahi.refreshed.contains(name) { await Task.yield() }
    }

    private func embedded() throws -> FakeDiscovery { try #require(created.withLock { $0.last }) }

    @Test func `starts the embedded discovery with the publication`() async throws {
        let publication = Publication(instance: "a", host: "h", port: 1, text: [])
        discovery.publish(publication)
        avahi.send(.state(.avahi, .unavailable("none")))
        await reachThread()
        #expect(try embedded().publications == [publication])
        try embedded().send(.state(.embedded, .running))
        await collector.wait { $0 == .state(.embedded, .running) }
        #expect(discovery.kind == .embedded)
        #expect(collector.events == [.state(.embedded, .running)])
        await discovery.stopped()
    }

    @Test func `removes only services that no discovery knows`() async throws {
        avahi.send(.state(.avahi, .unavailable("none")))
        await reachThread()
        let embedded = try embedded()
        embedded.send(.service(DiscoveredService(instance: "a", port: 1)))
        embedded.send(.service(DiscoveredService(instance: "b", port: 1)))
        avahi.send(.state(.avahi, .running))
        await reachThread()
        #expect(embedded.isStopped)
        #expect(discovery.kind == .avahi)
        avahi.send(.service(DiscoveredService(instance: "a", port: 1)))
        // Events of a stopped discovery are ignored.
        embedded.send(.removed(instance: "a"))
        embedded.send(.service(DiscoveredService(instance: "late")))
        avahi.send(.removed(instance: "a"))
        await reachThread()
        // The embedded discovery also knew it and reported no removal. The sweep after all-for-now
        // decides.
        #expect(!collector.events.contains(.removed(instance: "a")))
        #expect(!collector.events.contains(.service(DiscoveredService(instance: "late"))))
        avahi.send(.allForNow)
        await collector.wait { $0 == .removed(instance: "b") }
        #expect(collector.events.contains(.removed(instance: "a")))
        await discovery.stopped()
    }

    @Test func `network changes are reported by avahi while it is in use`() async throws {
        avahi.send(.state(.avahi, .running))
        avahi.send(.networkChanged)
        avahi.send(.conflict(instance: "x"))
        await collector.wait { $0 == .conflict(instance: "x") }
        #expect(collector.events.count { $0 == .networkChanged } == 1)
        await discovery.stopped()
        #expect(avahi.isStopped)
    }

    @Test func `network changes are reported only by embedded while it is in use`() async throws {
        avahi.send(.state(.avahi, .unavailable("none")))
        await reachThread()
        avahi.send(.networkChanged)
        try embedded().send(.networkChanged)
        try embedded().send(.conflict(instance: "x"))
        await collector.wait { $0 == .conflict(instance: "x") }
        #expect(collector.events.count { $0 == .networkChanged } == 1)
        await discovery.stopped()
        #expect(avahi.isStopped)
        #expect(try embedded().isStopped)
    }

    @Test func `can be stopped before it is started`() async {
        let discovery = AvahiDiscovery(
            options: DiscoveryOptions(), logger: Logger(subsystem: "test", sink: MemorySink(), level: .fault))
        await discovery.stopped()
        await self.discovery.stopped()
    }
}
