/// One message on a connection between devices: `u32 length || u8 kind || body`, length = 1 + body
/// count.
package struct Frame: Sendable, Equatable {
    /// The kind as sent, which this version may not know.
    package let code: UInt8

    /// The body, whose format depends on the kind.
    package let body: [UInt8]

    /// The kind, or nil if this version does not know it. Such a frame is ignored.
    package var kind: FrameKind? {
        FrameKind(rawValue: code)
    }

    package init(_ kind: FrameKind, _ body: [UInt8]) {
        self.init(code: kind.rawValue, body: body)
    }

    /// Creates a frame of any kind, as read.
    package init(code: UInt8, body: [UInt8]) {
        self.code = code
        self.body = body
    }

    /// The number of bytes before the body: length and kind.
    package static let headerCount = 5

    /// Appends the encoded frame without an intermediate array. No limit permits a body that is too
    /// long for the length field.
    package func append(to bytes: inout [UInt8]) {
        let length = UInt32(truncatingIfNeeded: body.count + 1)
        bytes.reserveCapacity(bytes.count + Self.headerCount + body.count)
        for shift in [24, 16, 8, 0] as [UInt32] { bytes.append(UInt8(truncatingIfNeeded: length >> shift)) }
        bytes.append(code)
        bytes += body
    }
}

/// The kind of a ``Frame``. The raw values are sent over the network and never change.
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

    /// The account key of the current epoch, binary.
    case epochKey = 6
}

/// The maximum body sizes in one state of a connection. A kind without a limit is rejected.
package struct FrameCaps: Sendable, Equatable {
    private var byKind: [FrameKind: Int]

    /// The limit for kinds that this version does not know; nil rejects them.
    private let unknown: Int?

    /// Creates limits in bytes of body. `unknown` applies to kinds of later versions, which are
    /// read and ignored.
    init(_ byKind: [FrameKind: Int], unknown: Int? = nil) {
        self.byKind = byKind
        self.unknown = unknown
    }

    /// Returns the limit of a kind in bytes of body, or nil if its frames are rejected.
    package func maxBody(code: UInt8) -> Int? {
        guard let kind = FrameKind(rawValue: code) else { return unknown }
        return byKind[kind]
    }

    /// The largest limit, to check a length before its kind has arrived.
    var maxBody: Int? {
        let largest = byKind.values.max()
        guard let unknown else { return largest }
        return max(largest ?? unknown, unknown)
    }
}

extension FrameCaps {
    /// No identity is proved yet: no frames.
    package static let nothing = FrameCaps([:])

    /// The TLS certificate is not live: only statements, and no more than a new device has.
    package static let introduction = FrameCaps([.statements: 512 * 1024])

    /// The client before the server's hello: only the hello.
    package static let helloOnly = FrameCaps([.hello: 4 * 1024])

    /// The server before the hello of a live client.
    package static let beforeHello = FrameCaps([.hello: 4 * 1024, .statements: 8 * 1024 * 1024])

    /// A live device after the hello. JSON of 1 MiB has room for the largest configurable payload.
    package static let live = FrameCaps(
        [
            .statements: 8 * 1024 * 1024, .hello: 4 * 1024, .request: 1024 * 1024, .response: 1024 * 1024,
            .notice: 1024 * 1024, .epochKey: 32,
        ], unknown: 64 * 1024)
}
