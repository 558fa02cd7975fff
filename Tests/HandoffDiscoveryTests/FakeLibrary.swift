import HandoffDiscovery
import LoopIO

/// What a test and a `FakeLibrary` on its discovery thread share.
final class LibraryScript: Sendable {
    struct State {
        /// What the library was asked to do, in order.
        var calls: [String] = []
        /// What it was asked to browse, in order.
        var queries: [RecordQuery] = []
        /// What it will tell the driver at the next opportunity.
        var events: [MulticastEvent] = []
        /// What it tells when it is opened.
        var onOpen: [MulticastEvent] = [.running]
        /// What making a group throws.
        var groupError: MulticastError?
        /// Who waits until a call was made so often.
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

    /// Waits until a call that begins so was made so often; the test's time limit ends a vain wait.
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

    func tell(_ events: [MulticastEvent]) { state.withLock { $0.events += events } }
}

/// A library that does nothing but what the test's script says.
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
