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

    /// Bytes before the body: length and kind.
    package static let headerCount = 5

    /// Appends the frame as it is sent, without an array of its own in between. No cap allows a body that is too long for
    /// the length field.
    package func append(to bytes: inout [UInt8]) {
        let length = UInt32(truncatingIfNeeded: body.count + 1)
        bytes.reserveCapacity(bytes.count + Self.headerCount + body.count)
        for shift in [24, 16, 8, 0] as [UInt32] { bytes.append(UInt8(truncatingIfNeeded: length >> shift)) }
        bytes.append(code)
        bytes += body
    }
}

/// What the body of a ``Frame`` is; the numbers cross the network and never change.
package enum FrameKind: UInt8, Sendable, CaseIterable {
    /// Signed statements of the roster, binary.
    case statements = 1

    /// ``Hello``, JSON.
    case hello = 2

    /// ``PeerRequest``, JSON.
    case request = 3

    /// ``PeerResponse``, JSON.
    case response = 4

    /// ``PeerNotice``, JSON.
    case notice = 5

    /// The account key of the epoch in force, binary.
    case epochKey = 6
}

/// The longest body of each kind that one state of a connection takes; a kind without one is refused.
package struct FrameCaps: Sendable, Equatable {
    private var byKind: [FrameKind: Int]

    /// Longest body of a kind that this version does not know; nil refuses unknown kinds.
    private let unknown: Int?

    /// Caps in bytes of body; `unknown` is the one for kinds of later versions, which are read and ignored.
    package init(_ byKind: [FrameKind: Int], unknown: Int? = nil) {
        self.byKind = byKind
        self.unknown = unknown
    }

    /// The cap of a kind in bytes of body, or nil when frames of it are refused.
    package func maxBody(code: UInt8) -> Int? {
        guard let kind = FrameKind(rawValue: code) else { return unknown }
        return byKind[kind]
    }

    /// The greatest cap of all, to judge a length before its kind has arrived.
    package var maxBody: Int? {
        let largest = byKind.values.max()
        guard let unknown else { return largest }
        return max(largest ?? unknown, unknown)
    }
}

extension FrameCaps {
    /// Nobody has proved anything: no frame at all.
    package static let nothing = FrameCaps([:])

    /// TLS is done with a certificate that is not live: statements only, and no more of them than a new device has.
    package static let introduction = FrameCaps([.statements: 512 * 1024])

    /// The client before the server's hello: the hello only.
    package static let helloOnly = FrameCaps([.hello: 4 * 1024])

    /// The server before the hello of a live client.
    package static let beforeHello = FrameCaps([.hello: 4 * 1024, .statements: 8 * 1024 * 1024])

    /// A live device after hello. JSON of 1 MiB holds the largest payload that a user may configure, with room.
    package static let live = FrameCaps(
        [
            .statements: 8 * 1024 * 1024, .hello: 4 * 1024, .request: 1024 * 1024, .response: 1024 * 1024,
            .notice: 1024 * 1024, .epochKey: 32,
        ], unknown: 64 * 1024)
}
