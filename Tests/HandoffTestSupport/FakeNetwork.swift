package import HandoffDiscovery
import LoopIO

/// A network on which whole daemons find each other without mDNS: what one publishes, the others are told at once.
///
/// Like mDNS it shows everything to everybody, and tells members' names from strangers' by what each daemon says.
package final class FakeNetwork: Sendable {
    private struct State {
        var stations: [FakeDiscovery] = []
        var isHolding = false
        var held: [@Sendable () -> Void] = []
    }

    private let state = Locked(State())

    /// An empty network.
    package init() {}

    /// A daemon's way into this network.
    package func station() -> FakeDiscovery {
        let station = FakeDiscovery(self)
        state.withLock { $0.stations.append(station) }
        return station
    }

    /// Delays everything from now on.
    package func hold() {
        state.withLock { $0.isHolding = true }
    }

    /// Delivers what was delayed, in its order, and delays nothing any more.
    package func release() {
        let held = state.withLock { state in
            state.isHolding = false
            defer { state.held = [] }
            return state.held
        }
        for event in held { event() }
    }

    /// What all daemons publish.
    package var publications: [Publication] { state.withLock { $0.stations }.compactMap(\.publication) }

    /// Daemons that publish or listen.
    package var stationCount: Int { state.withLock { $0.stations.count } }

    func others(than station: FakeDiscovery) -> [FakeDiscovery] {
        state.withLock { $0.stations }.filter { $0 !== station }
    }

    package func remove(_ station: FakeDiscovery) {
        state.withLock { state in state.stations.removeAll { $0 === station } }
    }

    func deliver(_ event: @escaping @Sendable () -> Void) {
        let isHeld = state.withLock { state in
            if state.isHolding { state.held.append(event) }
            return state.isHolding
        }
        if !isHeld { event() }
    }
}
