package import HandoffModel

/// The adverts that this device has sent lately, by receiver, so that an acknowledgement proves the address to which its
/// advert was sent, and no other one.
package struct SentAdverts: Sendable {
    /// One datagram.
    private struct Sent: Sendable {
        let salt: [UInt8]
        let position: Position
        let address: PeerAddress
    }

    /// Datagrams to one device that are remembered: those of the last repeats to all its addresses.
    package static let maxCount = 16

    private var sent: [DeviceID: [Sent]] = [:]

    /// Nothing sent yet.
    package init() {}

    /// Remembers a datagram by its salt; of the datagrams to one device the oldest is forgotten.
    package mutating func note(
        _ position: Position, to device: DeviceID, at address: PeerAddress, salt: [UInt8]
    ) {
        var list = sent.removeValue(forKey: device) ?? []
        if list.count >= Self.maxCount { list.removeFirst() }
        list.append(Sent(salt: salt, position: position, address: address))
        sent[device] = list
    }

    /// Forgets the datagrams to all other devices.
    package mutating func retain(_ devices: Set<DeviceID>) {
        sent = sent.filter { devices.contains($0.key) }
    }

    /// The address to which the acknowledged datagram was sent, or nil if no datagram fits.
    ///
    /// The datagram is forgotten, so that a repeated acknowledgement has no effect.
    /// - Parameter isGenuine: whether the acknowledgement is one of the datagram with this salt.
    package mutating func take(
        _ acknowledgement: Acknowledgement, isGenuine: ([UInt8]) -> Bool
    ) -> PeerAddress? {
        let index = sent[acknowledgement.deviceID]?.firstIndex {
            $0.position == acknowledgement.position && isGenuine($0.salt)
        }
        guard let index else { return nil }
        return sent[acknowledgement.deviceID]?.remove(at: index).address
    }
}

/// The arrival of an advert, for its acknowledgement.
package struct AdvertArrival: Sendable, Equatable {
    /// Its source, to which the acknowledgement is sent.
    package let source: PeerAddress

    /// The host of this device at which it arrived, as ``PeerAddress/hostInIPv6`` has it.
    package let host: [UInt8]

    /// The salt of the datagram.
    package let salt: [UInt8]

    /// An arrival.
    package init(source: PeerAddress, host: [UInt8], salt: [UInt8]) {
        self.source = source
        self.host = host
        self.salt = salt
    }
}
