import HandoffCrypto
import HandoffDiscovery
import HandoffModel

/// Announces on the network that a device invites, and nothing else: the names are random. Lives on
/// the daemon's loop; releasing it withdraws the announcement.
final class PairingAnnouncer {
    /// The whole content of the record: the version.
    static let text: [[UInt8]] = [Array("v=1".utf8)]
    /// Enough random bytes to make equal names of two windows impossible in practice.
    private static let nameByteCount = 10

    private let port: UInt16
    private var station: PairingDiscovery.Station?

    /// Starts announcing. Does nothing without discovery.
    init(_ pairingDiscovery: PairingDiscovery, port: UInt16) {
        self.port = port
        station = pairingDiscovery.open(isMember: { _ in false }) { [weak self] event in
            // The name is already in use: choose another.
            if case .conflict = event { self?.announce() }
        }
        announce()
    }

    /// Withdraws the announcement.
    /// - Parameter done: called when the withdrawal has been sent, on discovery's thread or
    ///   immediately.
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
