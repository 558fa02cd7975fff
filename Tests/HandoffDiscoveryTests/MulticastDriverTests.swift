import HandoffDiscovery
import HandoffTestSupport
import LoopIO
import Testing

/// The driver on a real discovery thread, with a fake library.
@Suite(.timeLimit(.minutes(5))) struct MulticastDriverTests {
    private let script = LibraryScript()
    private let collector = EventCollector()
    private let thread = DiscoveryThread<DiscoveryCommand>(name: "test")
    private static let browse = RecordQuery(kind: .instances, name: "_handoff._tcp.local")
    private static let publication = Publication(instance: "own", host: "host", port: 80, text: [])

    private func start(_ onOpen: [MulticastEvent] = [.running], options: DiscoveryOptions = DiscoveryOptions()) {
        script.state.withLock { $0.onOpen = onOpen }
        let isStarted = thread.start { [script, collector] loop in
            MulticastDriver(
                loop: loop, library: FakeLibrary(script), options: options,
                logger: Logger(subsystem: "test", sink: MemorySink(), level: .fault), onEvent: collector.handler)
        }
        #expect(isStarted)
    }

    /// Delivers events. A command without effect wakes the thread for them.
    private func deliver(_ events: MulticastEvent...) {
        script.queue(events)
        thread.send(.refresh(""))
    }

    private func stop() async {
        await withCheckedContinuation { continuation in
            if !thread.send(.stop({ continuation.resume() })) { continuation.resume() }
        }
    }

    private static var appearance: MulticastEvent {
        get throws { .appeared(browse, RecordLink(interface: 1, isIPv6: false), try Fixture.pointer("a")) }
    }

    @Test func `browses only while the library runs`() async {
        start([.waiting("not there")])
        await collector.wait { $0 == .state(.avahi, .unavailable("not there")) }
        #expect(script.calls == ["open"])
        deliver(.running)
        await script.wait(for: "browse")
        await stop()
        #expect(script.calls.prefix(2) == ["open", "browse instances _handoff._tcp.local"])
        #expect(script.calls.contains("close"))
    }

    @Test func `reopens after a loss and publishes again`() async {
        thread.send(.publish(Self.publication))
        start()
        await script.wait(for: "make service")
        collector.clear()
        deliver(.lost("gone"))
        await collector.wait { $0 == .state(.avahi, .unavailable("gone")) }
        await collector.wait { $0 == .state(.avahi, .running) }
        await script.wait(for: "make service", count: 2)
        await script.wait(for: "browse instances", count: 2)
        await stop()
        #expect(script.calls.count { $0 == "open" } == 2)
        // It is closed before it is reopened.
        let order = script.calls.filter { $0 == "open" || $0 == "close" }
        #expect(order.prefix(3) == ["open", "close", "open"])
    }

    @Test func `removes services that do not reappear after a loss`() async throws {
        start(options: DiscoveryOptions(interfaces: ["lo"]))
        let link = RecordLink(interface: 1, isIPv6: false)
        let browse = RecordQuery(kind: .instances, name: "_handoff._tcp.local", interface: 1)
        await script.wait(for: "browse instances")
        deliver(.appeared(browse, link, try Fixture.pointer("a")), .appeared(browse, link, try Fixture.pointer("b")))
        await script.wait(for: "browse text", count: 2)
        for query in script.queries where query.kind == .text {
            deliver(.appeared(query, link, [3, 0x76, 0x3d, 0x31]))
        }
        await collector.wait(for: "a")
        await collector.wait(for: "b")
        deliver(.lost("gone"))
        await script.wait(for: "browse instances", count: 2)
        deliver(.appeared(browse, link, try Fixture.pointer("b")), .allForNow(browse))
        await collector.wait { $0 == .removed(instance: "a") }
        await stop()
        #expect(!collector.events.contains(.removed(instance: "b")))
    }

    @Test func `ignores events of stopped browsers`() async throws {
        start([.waiting("not there")])
        await collector.wait { $0 == .state(.avahi, .unavailable("not there")) }
        deliver(try Self.appearance, .allForNow(Self.browse))
        deliver(.running)
        await collector.wait { $0 == .state(.avahi, .running) }
        await stop()
        #expect(!collector.events.contains(.allForNow))
    }

    @Test func `reports a collision that a call returns`() async {
        script.state.withLock { $0.groupError = .collision("local name collision") }
        thread.send(.publish(Self.publication))
        start()
        await collector.wait { $0 == .conflict(instance: "own") }
        await stop()
    }

    @Test func `a rejected publication is an impairment, even after the library is reopened`() async {
        script.state.withLock { $0.groupError = .refused("not permitted") }
        thread.send(.publish(Self.publication))
        start()
        let text = "this device is not announced: avahi-daemon returned 'not permitted'"
        await collector.wait { $0 == .state(.avahi, .impaired(text)) }
        collector.clear()
        deliver(.lost("gone"))
        await script.wait(for: "browse instances", count: 2)
        await stop()
        #expect(!collector.events.contains { if case .state = $0 { true } else { false } })
    }

    @Test func `a bus that forbids publishing is an impairment from the second failure`() async {
        script.state.withLock { $0.groupError = .disconnected("not allowed") }
        thread.send(.publish(Self.publication))
        start()
        let text = "this device is not announced: avahi-daemon returned 'not allowed'"
        await collector.wait { $0 == .state(.avahi, .impaired(text)) }
        await script.wait(for: "open", count: 4)
        await stop()
        #expect(collector.events.count { $0 == .state(.avahi, .impaired(text)) } == 1)
    }

    @Test func `closes a library that does not respond`() async {
        script.state.withLock { $0.groupError = .disconnected("no answer") }
        thread.send(.publish(Self.publication))
        start()
        await collector.wait { $0 == .state(.avahi, .unavailable("no answer")) }
        await stop()
        #expect(script.calls.contains("close"))
    }

    @Test func `handles commands sent before the start and none after the end`() async {
        start()
        await stop()
        // The loop ends shortly after `stop` completes. Commands sent in between are also dropped.
        while thread.send(.publish(Self.publication)) { await Task.yield() }
        #expect(!script.calls.contains("make service"))
    }
}
