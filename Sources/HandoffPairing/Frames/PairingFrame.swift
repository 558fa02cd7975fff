internal import HandoffProtocol

/// One frame of a pairing session: u32 length of kind and body, u8 kind, body.
package struct PairingFrame: Sendable, Hashable {
    /// What the body is.
    package let kind: PairingFrameKind
    /// As many bytes as the kind allows.
    package let body: [UInt8]

    /// Bytes before the body.
    package static let headerCount = 5

    /// A frame; the body has a length that the kind allows, else the other side will refuse it.
    package init(_ kind: PairingFrameKind, _ body: [UInt8]) {
        self.kind = kind
        self.body = body
    }

    /// The frame as it is sent.
    package var encoded: [UInt8] {
        var writer = ByteWriter(capacity: Self.headerCount + body.count)
        writer.u32(UInt32(clamping: body.count + 1))
        writer.u8(kind.rawValue)
        writer.raw(body)
        return writer.bytes
    }
}
