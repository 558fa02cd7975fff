/// Reads big-endian fields from untrusted bytes. Missing bytes are an error and never trap.
package struct ByteReader: Sendable {
    private let bytes: ArraySlice<UInt8>

    /// The index into `bytes` of the next unread byte, at most `bytes.endIndex`.
    private var position: Int

    /// Creates a reader at the start of `bytes`.
    package init(_ bytes: [UInt8]) {
        self.init(bytes[...])
    }

    /// Creates a reader at the start of a slice, without copying it.
    package init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        self.position = bytes.startIndex
    }

    /// The number of unread bytes.
    package var remaining: Int {
        bytes.endIndex &- position
    }

    /// The number of bytes read so far. Callers use it to extract the signed bytes.
    package var consumed: Int {
        position &- bytes.startIndex
    }

    package mutating func u8() throws(ByteError) -> UInt8 {
        guard remaining >= 1 else { throw .truncated }
        defer { position &+= 1 }
        return bytes[position]
    }

    package mutating func u16() throws(ByteError) -> UInt16 {
        UInt16(truncatingIfNeeded: try integer(byteCount: 2))
    }

    package mutating func u32() throws(ByteError) -> UInt32 {
        UInt32(truncatingIfNeeded: try integer(byteCount: 4))
    }

    package mutating func u64() throws(ByteError) -> UInt64 {
        try integer(byteCount: 8)
    }

    /// Reads exactly `count` bytes. The count is checked before the copy, so a hostile count
    /// allocates nothing.
    package mutating func bytes(_ count: Int) throws(ByteError) -> [UInt8] {
        Array(try slice(count))
    }

    /// Reads exactly `count` bytes without copying them.
    package mutating func slice(_ count: Int) throws(ByteError) -> ArraySlice<UInt8> {
        guard count >= 0, count <= remaining else { throw .truncated }
        defer { position &+= count }
        return bytes[position..<(position &+ count)]
    }

    /// Reads `count` bytes as UTF-8. Invalid text is an error and is never repaired.
    package mutating func text(_ count: Int) throws(ByteError) -> String {
        guard let text = String(validating: try slice(count), as: UTF8.self) else { throw .malformed }
        return text
    }

    /// Reads the remaining bytes.
    package mutating func rest() -> [UInt8] {
        defer { position = bytes.endIndex }
        return Array(bytes[position...])
    }

    /// Throws ``ByteError/trailing`` unless every byte has been read.
    package func finish() throws(ByteError) {
        guard remaining == 0 else { throw .trailing }
    }

    /// Throws ``ByteError/malformed`` unless all remaining bytes are zero, as required for padding.
    package mutating func finishPadding() throws(ByteError) {
        guard bytes[position...].allSatisfy({ $0 == 0 }) else { throw .malformed }
        position = bytes.endIndex
    }

    private mutating func integer(byteCount: Int) throws(ByteError) -> UInt64 {
        var value: UInt64 = 0
        for byte in try slice(byteCount) {
            value = value << 8 | UInt64(byte)
        }
        return value
    }
}

/// An error in the layout of untrusted bytes.
package enum ByteError: Error, Equatable, Sendable {
    /// Fewer bytes remain than the next field needs.
    case truncated

    /// Bytes remain after the end of the layout.
    case trailing

    /// A text is not UTF-8, or a field has a value that its layout does not permit.
    case malformed
}
