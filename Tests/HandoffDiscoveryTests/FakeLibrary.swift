import HandoffDiscovery
import LoopIO

/// The state shared by a test and a `FakeLibrary` on its discovery thread.
final class LibraryScript: Sendable {
    struct State {
        /// The calls to the library, in order.
        var calls: [String] = []
        /// The browsed queries, in order.
        var queries: [RecordQuery] = []
        /// The events to deliver next to the driver.
        var events: [MulticastEvent] = []
        /// The events to deliver when the library is opened.
        var onOpen: [MulticastEvent] = [.running]
        /// The error to throw when a group is created.
        var groupError: MulticastError?
        /// The waits for a number of calls.
        var waiters: [(call: String, count: Int, resume: CheckedContinuation<Void, Never>)] = []
    }

    let state = Locked(State())

    var queries: [RecordQuery] { state.withLock { $0.queries } }
    var calls: [String] { state.withLock { $0.calls } }

    func call(_ name: String) {
        let met = state.withLock { state in
            state.calls.append(name)
            let calls = state.calls
            let isMet = { (call: String, count: Int) in calls.count { $0.hasPrefix(call) } >= count }
            let met = state.waiters.filter { isMet($0.call, $0.count) }.map(\.resume)
            state.waiters.removeAll { isMet($0.call, $0.count) }
            return met
        }
        for continuation in met { continuation.resume() }
    }

    /// Waits for a number of calls with this prefix. The test's time limit applies.
    func wait(for call: String, count: Int = 1) async {
        await withCheckedContinuation { continuation in
            let isMet = state.withLock { state in
                if state.calls.count(where: { $0.hasPrefix(call) }) >= count { return true }
                state.waiters.append((call, count, continuation))
                return false
            }
            if isMet { continuation.resume() }
        }
    }

    func queue(_ events: [MulticastEvent]) { state.withLock { $0.events += events } }
}

/// A library controlled by the test's script.
final class FakeLibrary: MulticastLibrary {
    let kind = DiscoveryKind.avahi
    private let script: LibraryScript

    init(_ script: LibraryScript) { self.script = script }

    func open() {
        script.call("open")
        script.state.withLock { $0.events += $0.onOpen }
    }

    func close() { script.call("close") }

    func takeEvents() -> [MulticastEvent] {
        script.state.withLock { state in
            defer { state.events = [] }
            return state.events
        }
    }

    func browse(_ query: RecordQuery) {
        script.state.withLock { $0.queries.append(query) }
        script.call("browse \(query.kind) \(query.name)")
    }

    func stopBrowsing(_ query: RecordQuery) { script.call("stop \(query.kind) \(query.name)") }

    func makeGroup(_ id: UInt64, records: [PublishedRecord], interface: UInt32?) throws(MulticastError) {
        if let error = script.state.withLock({ $0.groupError }) { throw error }
        if records.count == 3 { script.call("make service") }
    }

    func update(_ id: UInt64, record: PublishedRecord, interface: UInt32?) { script.call("update") }

    func freeGroup(_ id: UInt64) {}
}
