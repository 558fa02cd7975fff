/// Writes frames.
package enum FrameEncoder {
    /// Bytes before the body: length and kind.
    package static let headerCount = 5

    /// The bytes of `frame`; nil when its body is too long for the length field, which no cap allows anyway.
    package static func encode(_ frame: Frame) -> [UInt8]? {
        guard let length = UInt32(exactly: frame.body.count + 1) else { return nil }
        var writer = ByteWriter(capacity: headerCount + frame.body.count)
        writer.u32(length)
        writer.u8(frame.code)
        writer.raw(frame.body)
        return writer.bytes
    }
}
