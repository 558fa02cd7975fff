internal import HandoffProtocol

/// Cuts the stream of a pairing session into frames. Kind and length are judged by what the present state takes as soon
/// as the five bytes in front are there, so that nothing is kept for what will be refused.
package struct PairingFrameDecoder: Sendable {
    /// Kinds that the present state takes.
    package private(set) var kinds: Set<PairingFrameKind>

    private var buffer: [UInt8] = []

    /// Starts empty.
    package init(kinds: Set<PairingFrameKind>) {
        self.kinds = kinds
    }

    /// Bytes that have arrived and belong to no frame yet.
    package var buffered: Int {
        buffer.count
    }

    /// Changes what is taken from now on, for frames that have arrived already too.
    package mutating func allow(_ kinds: Set<PairingFrameKind>) {
        self.kinds = kinds
    }

    /// Adds what the connection delivered.
    package mutating func append(_ bytes: some Collection<UInt8>) {
        buffer.append(contentsOf: bytes)
    }

    /// Takes the next whole frame, or nil when more bytes are needed. On a throw the session is over.
    package mutating func next() throws(PairingViolation) -> PairingFrame? {
        var reader = ByteReader(buffer)
        guard let length = try? reader.u32() else { return nil }  // Too few bytes is the only error here.
        let longest = kinds.map(\.bodyCount.upperBound).max() ?? 0
        guard length > 0, Int(length) - 1 <= longest else { throw .length(length) }
        guard let code = try? reader.u8() else { return nil }
        guard let kind = PairingFrameKind(rawValue: code), kinds.contains(kind) else { throw .unexpected(kind: code) }
        let count = Int(length) - 1
        guard kind.bodyCount.contains(count) else { throw .length(length) }
        guard let body = try? reader.bytes(count) else { return nil }
        buffer.removeFirst(reader.consumed)
        return PairingFrame(kind, body)
    }
}
