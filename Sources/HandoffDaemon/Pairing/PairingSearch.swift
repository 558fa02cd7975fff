import HandoffDiscovery
import LoopIO

/// Searches for pairing windows on the network. Lives on the daemon's loop; releasing it ends the
/// search.
final class PairingSearch {
    private let station: PairingDiscovery.Station

    /// Starts the search. Returns nil without discovery.
    ///
    /// - Parameters:
    ///   - limit: maximum number of remembered names, because any host can invent names.
    ///   - onFound: called for each window and each change, in later turns.
    init?(_ pairingDiscovery: PairingDiscovery, limit: Int, onFound: @escaping (DiscoveredService) -> Void) {
        let names = Locked(Set<String>())
        let station = pairingDiscovery.open { name in
            names.withLock { $0.contains(name) || ($0.count < limit && $0.insert(name).inserted) }
        } _: { event in
            switch event {
            case .service(let service): onFound(service)
            case .removed(let name): names.withLock { _ = $0.remove(name) }
            case .state, .allForNow, .conflict, .networkChanged: break
            }
        }
        guard let station else { return nil }
        self.station = station
    }
}
