/// The adverts that were recently sent to one device, so that an acknowledgement proves exactly the
/// address to which its advert was sent.
package struct SentAdverts: Sendable {
    private struct Sent: Sendable {
        let salt: [UInt8]
        let position: Position
        let address: PeerAddress
    }

    /// The maximum number of datagrams to remember: the last repeats to all addresses of a device.
    package static let maxCount = 16

    private var sent: [Sent] = []

    package init() {}

    /// Records a datagram by its salt. The oldest one is dropped if there are too many.
    package mutating func note(_ position: Position, at address: PeerAddress, salt: [UInt8]) {
        if sent.count >= Self.maxCount { sent.removeFirst() }
        sent.append(Sent(salt: salt, position: position, address: address))
    }

    /// Returns the address to which the datagram with an acknowledged position was sent, or nil if
    /// no datagram matches.
    ///
    /// The datagram is removed, so that a repeated acknowledgement has no effect.
    /// - Parameter isGenuine: Returns whether the acknowledgement is for the datagram with this
    ///   salt.
    package mutating func take(_ position: Position, isGenuine: ([UInt8]) -> Bool) -> PeerAddress? {
        let index = sent.firstIndex { $0.position == position && isGenuine($0.salt) }
        return index.map { sent.remove(at: $0).address }
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
