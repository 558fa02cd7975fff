package import HandoffModel

/// The recently sent adverts by receiver, so that an acknowledgement proves exactly the address to
/// which its advert was sent.
package struct SentAdverts: Sendable {
    private struct Sent: Sendable {
        let salt: [UInt8]
        let position: Position
        let address: PeerAddress
    }

    /// The maximum number of datagrams to remember per device: the last repeats to all its
    /// addresses.
    package static let maxCount = 16

    private var sent: [DeviceID: [Sent]] = [:]

    package init() {}

    /// Records a datagram by its salt. The oldest datagram to the device is dropped if there are
    /// too many.
    package mutating func note(
        _ position: Position, to device: DeviceID, at address: PeerAddress, salt: [UInt8]
    ) {
        var list = sent.removeValue(forKey: device) ?? []
        if list.count >= Self.maxCount { list.removeFirst() }
        list.append(Sent(salt: salt, position: position, address: address))
        sent[device] = list
    }

    /// Removes the datagrams to all other devices.
    package mutating func retain(_ devices: Set<DeviceID>) {
        sent = sent.filter { devices.contains($0.key) }
    }

    /// Returns the address to which the acknowledged datagram was sent, or nil if no datagram
    /// matches.
    ///
    /// The datagram is removed, so that a repeated acknowledgement has no effect.
    /// - Parameter isGenuine: Returns whether the acknowledgement is for the datagram with this
    ///   salt.
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

/// The arrival data of an advert, needed for its acknowledgement.
package struct AdvertArrival: Sendable, Equatable {
    /// The source, to which the acknowledgement is sent.
    package let source: PeerAddress

    /// The host of this device at which it arrived, in the form of ``PeerAddress/hostInIPv6``.
    package let host: [UInt8]

    package let salt: [UInt8]

    package init(source: PeerAddress, host: [UInt8], salt: [UInt8]) {
        self.source = source
        self.host = host
        self.salt = salt
    }
}
