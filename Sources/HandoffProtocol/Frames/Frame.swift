/// One message on a connection between devices: `u32 length || u8 kind || body`, length = 1 + body count.
package struct Frame: Sendable, Equatable {
    /// The kind as sent; may be one that this version does not know.
    package let code: UInt8

    /// What the kind says that this is.
    package let body: [UInt8]

    /// The kind, or nil when this version does not know it (then the frame is ignored).
    package var kind: FrameKind? {
        FrameKind(rawValue: code)
    }

    /// A frame of a known kind.
    package init(_ kind: FrameKind, _ body: [UInt8]) {
        self.init(code: kind.rawValue, body: body)
    }

    /// A frame of any kind, as read.
    package init(code: UInt8, body: [UInt8]) {
        self.code = code
        self.body = body
    }
}
