package import HandoffModel

/// The answer to an advert: who has received which one.
package struct Acknowledgement: Sendable, Equatable {
    /// The device that received the advert; any member could write this, so nothing but repeats depends on it.
    package let deviceID: DeviceID

    /// Position of the advert that arrived.
    package let position: Position

    /// Bytes of the plaintext, so that the datagram has 128.
    package static let byteCount = 79

    /// An answer.
    package init(deviceID: DeviceID, position: Position) {
        self.deviceID = deviceID
        self.position = position
    }

    /// The plaintext: id, boot, seq, zeros.
    package func encoded() -> [UInt8] {
        var writer = ByteWriter(capacity: Self.byteCount)
        writer.raw(deviceID.bytes)
        writer.u64(position.boot)
        writer.u32(position.seq)
        writer.pad(to: Self.byteCount)
        return writer.bytes
    }

    /// Reads what ``encoded()`` wrote.
    package init(decoding bytes: [UInt8]) throws(ByteError) {
        var reader = ByteReader(bytes)
        guard let deviceID = DeviceID(bytes: try reader.bytes(DeviceID.byteCount)) else { throw .malformed }
        self.deviceID = deviceID
        self.position = Position(boot: try reader.u64(), seq: try reader.u32())
        try reader.finishPadding()
    }
}
