import HandoffCrypto
import HandoffDiscovery
import HandoffModel

/// Tells the network that somebody invites here, and nothing else: the names are random. Lives on the daemon's loop;
/// dropping it withdraws the announcement.
final class PairingAnnouncer {
    /// All that the record says: the version.
    static let text: [[UInt8]] = [Array("v=1".utf8)]
    /// Enough that no two windows ever have the same name.
    private static let nameByteCount = 10

    private let port: UInt16
    private var station: PairingDiscovery.Station?

    /// Begins to announce; does nothing where nothing is discovered.
    init(_ pairingDiscovery: PairingDiscovery, port: UInt16) {
        self.port = port
        station = pairingDiscovery.open(isMember: { _ in false }) { [weak self] event in
            // Somebody has the name already: another is taken.
            if case .conflict = event { self?.announce() }
        }
        announce()
    }

    /// Withdraws the announcement.
    /// - Parameter done: called on discovery's thread, or at once, when the goodbye is on its way.
    func stop(_ done: @escaping @Sendable () -> Void = {}) {
        guard let station else { return done() }
        self.station = nil
        station.close(done)
    }

    private func announce() {
        station?.discovery.publish(
            Publication(instance: Self.randomName(), host: Self.randomName(), port: port, text: Self.text))
    }

    private static func randomName() -> String {
        Base32.encode(Randomness.bytes(nameByteCount))
    }
}
