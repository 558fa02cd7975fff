import HandoffDiscovery
import LoopIO

/// Looks for pairing windows on the network. Lives on the daemon's loop; dropping it ends it.
final class PairingSearch {
    private let station: PairingDiscovery.Station

    /// Begins to look; nil where nothing is discovered.
    ///
    /// - Parameters:
    ///   - limit: how many names are remembered at a time: anyone can make up any number of them.
    ///   - onFound: told of each window, and of each change, in later turns.
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
