package import HandoffModel

/// The acknowledgement of an advert: the receiving device, the advert, and the address at which it
/// arrived.
package struct Acknowledgement: Sendable, Equatable {
    /// The device that received the advert.
    package let deviceID: DeviceID

    /// The position of the received advert.
    package let position: Position

    /// The host at which the advert arrived, in the form of ``PeerAddress/hostInIPv6``.
    package let host: [UInt8]

    /// Authenticates ``content`` and the salt of the received datagram with a secret that the two
    /// devices share.
    package let code: [UInt8]

    /// The number of bytes in ``host``.
    package static let hostCount = 16

    /// The number of bytes in ``code``.
    package static let codeCount = 16

    /// The number of bytes of plaintext, chosen so that the datagram has 128.
    package static let byteCount = 79

    /// - Parameter code: Computes the code from ``content``.
    package init(deviceID: DeviceID, position: Position, host: [UInt8], code: ([UInt8]) -> [UInt8]) {
        self.deviceID = deviceID
        self.position = position
        self.host = host
        self.code = code(Self.content(deviceID, position, host))
    }

    /// The bytes that the code authenticates: id, boot, seq, host.
    package var content: [UInt8] { Self.content(deviceID, position, host) }

    /// The plaintext: id, boot, seq, host, code, zeros.
    package func encoded() -> [UInt8] {
        var writer = ByteWriter(capacity: Self.byteCount)
        writer.raw(content)
        writer.raw(code)
        writer.pad(to: Self.byteCount)
        return writer.bytes
    }

    /// Decodes the output of ``encoded()``. The code is not checked here.
    package init(decoding bytes: [UInt8]) throws(ByteError) {
        var reader = ByteReader(bytes)
        guard let deviceID = DeviceID(bytes: try reader.bytes(DeviceID.byteCount)) else { throw .malformed }
        self.deviceID = deviceID
        position = Position(generation: try reader.u64(), seq: try reader.u32())
        host = try reader.bytes(Self.hostCount)
        code = try reader.bytes(Self.codeCount)
        try reader.finishPadding()
    }

    private static func content(_ deviceID: DeviceID, _ position: Position, _ host: [UInt8]) -> [UInt8] {
        var writer = ByteWriter(capacity: byteCount)
        writer.raw(deviceID.bytes)
        writer.u64(position.generation)
        writer.u32(position.seq)
        writer.raw(host)
        return writer.bytes
    }
}
