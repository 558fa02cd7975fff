import HandoffDiscovery
import LoopIO
import Synchronization

/// Collects the events of a discovery, and lets a test wait for one.
final class EventCollector: Sendable {
    private struct State {
        var events: [DiscoveryEvent] = []
        var waiters: [(isMet: @Sendable ([DiscoveryEvent]) -> Bool, resume: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Locked(State())

    /// What to give to `Discovery.start`.
    var handler: @Sendable (DiscoveryEvent) -> Void {
        { event in self.add(event) }
    }

    var events: [DiscoveryEvent] { state.withLock { $0.events } }

    func clear() { state.withLock { $0.events = [] } }

    func add(_ event: DiscoveryEvent) {
        let met = state.withLock { state in
            state.events.append(event)
            let events = state.events
            let met = state.waiters.filter { $0.isMet(events) }.map(\.resume)
            state.waiters.removeAll { $0.isMet(events) }
            return met
        }
        for continuation in met { continuation.resume() }
    }

    /// Waits until an event was collected that is as wanted; the test's time limit ends a vain wait.
    func wait(for isWanted: @escaping @Sendable (DiscoveryEvent) -> Bool) async {
        await withCheckedContinuation { continuation in
            let isMet = state.withLock { state in
                if state.events.contains(where: isWanted) { return true }
                state.waiters.append(({ $0.contains(where: isWanted) }, continuation))
                return false
            }
            if isMet { continuation.resume() }
        }
    }

    /// Waits for knowledge of an instance.
    func wait(
        for instance: String, where isWanted: @escaping @Sendable (DiscoveredService) -> Bool = { _ in true }
    ) async {
        await wait { event in
            guard case .service(let service) = event else { return false }
            return service.instance == instance && isWanted(service)
        }
    }
}

extension Discovery {
    /// Waits for the end of `stop`.
    func stopped() async {
        await withCheckedContinuation { continuation in stop { continuation.resume() } }
    }
}
