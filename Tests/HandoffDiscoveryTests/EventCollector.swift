import HandoffDiscovery
import LoopIO
import Synchronization

/// Collects the events of a discovery. Tests can wait for an event.
final class EventCollector: Sendable {
    private struct State {
        var events: [DiscoveryEvent] = []
        var waiters: [(isMet: @Sendable ([DiscoveryEvent]) -> Bool, resume: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Locked(State())

    /// The handler for `Discovery.start`.
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

    /// Waits for a matching event. The test's time limit applies.
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

    /// Waits for a matching service event of an instance.
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
    /// Stops the discovery and waits until it has stopped.
    func stopped() async {
        await withCheckedContinuation { continuation in stop { continuation.resume() } }
    }
}
