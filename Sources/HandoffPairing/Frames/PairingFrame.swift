internal import HandoffAccount
internal import HandoffCrypto
internal import HandoffModel
internal import HandoffProtocol

/// One frame of a pairing session: u32 length of kind and body, u8 kind, body.
package struct PairingFrame: Sendable, Hashable {
    /// The kind of the body.
    package let kind: PairingFrameKind
    /// The content, with a length that the kind allows.
    package let body: [UInt8]

    /// Number of bytes before the body.
    static let headerCount = 5

    /// Creates a frame. The peer rejects a body with a length that the kind does not allow.
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

/// The kind of a ``PairingFrame``. The numbers are sent over the network and never change.
package enum PairingFrameKind: UInt8, Sendable, CaseIterable {
    /// The salt of the window, inviter to joiner.
    case salt = 1
    /// The joiner's SPAKE2 share.
    case shareA = 2
    /// The inviter's SPAKE2 share.
    case shareB = 3
    /// The joiner's proof that it knows the code.
    case confirmA = 4
    /// The inviter's proof.
    case confirmB = 5
    /// The identity of a side, in both directions; sealed.
    case identity = 6
    /// The account, inviter to joiner; sealed.
    case account = 7
    /// The joiner has stored the account; sealed, empty.
    case stored = 8
    /// The reason why a side ends the session, in both directions.
    case refusal = 9

    /// The allowed body length of this kind in bytes. Checked before memory is allocated for the
    /// body.
    package var bodyCount: ClosedRange<Int> {
        let tag = AESGCM.tagCount
        return switch self {
        case .salt: PairingSalt.byteCount...PairingSalt.byteCount
        case .shareA, .shareB: SPAKE2.shareCount...SPAKE2.shareCount
        case .confirmA, .confirmB: SPAKE2Keys.confirmationCount...SPAKE2Keys.confirmationCount
        case .identity: (PairingIdentity.minCount + tag)...512
        case .account: (PairedAccount.headerCount + tag)...(RosterLimits.bytes + 64 * 1024)
        case .stored: tag...tag
        case .refusal: 1...3
        }
    }
}

/// Splits the stream of a pairing session into frames. Kind and length are checked against the
/// current state as soon as the five header bytes have arrived, so nothing is buffered for a frame
/// that will be rejected.
package struct PairingFrameDecoder: Sendable {
    /// The kinds accepted in the current state.
    package private(set) var kinds: Set<PairingFrameKind>

    private var buffer: [UInt8] = []

    /// Creates an empty decoder.
    package init(kinds: Set<PairingFrameKind>) {
        self.kinds = kinds
    }

    /// Number of received bytes that do not belong to a complete frame yet.
    package var buffered: Int {
        buffer.count
    }

    /// Changes the accepted kinds, also for frames that have already been received.
    package mutating func allow(_ kinds: Set<PairingFrameKind>) {
        self.kinds = kinds
    }

    /// Adds received bytes.
    package mutating func append(_ bytes: some Collection<UInt8>) {
        buffer.append(contentsOf: bytes)
    }

    /// Returns the next complete frame, or nil if more bytes are needed. An error ends the session.
    package mutating func next() throws(PairingViolation) -> PairingFrame? {
        var reader = ByteReader(buffer)
        guard let length = try? reader.u32() else { return nil }  // Too few bytes is the only error here.
        let maxBody = kinds.map(\.bodyCount.upperBound).max() ?? 0
        guard length > 0, Int(length) - 1 <= maxBody else { throw .length(length) }
        guard let code = try? reader.u8() else { return nil }
        guard let kind = PairingFrameKind(rawValue: code), kinds.contains(kind) else { throw .unexpected(kind: code) }
        let count = Int(length) - 1
        guard kind.bodyCount.contains(count) else { throw .length(length) }
        guard let body = try? reader.bytes(count) else { return nil }
        buffer.removeFirst(reader.consumed)
        return PairingFrame(kind, body)
    }
}

/// A protocol violation by the peer. It ends the session without an answer.
package enum PairingViolation: Error, Equatable, Sendable, CustomStringConvertible {
    /// The state accepts no frame of this kind, or the kind is unknown.
    case unexpected(kind: UInt8)
    /// The length of the frame is not allowed for its kind.
    case length(UInt32)
    /// A share is not a point on the curve.
    case share
    /// A sealed frame was not sealed with the key of this session, or is out of order.
    case seal
    /// An identity has an invalid layout or name, or is not signed by its key for this session.
    case identity
    /// The peer claims the identity of this device.
    case reflection
    /// A refusal or an account has an invalid layout.
    case layout

    /// A lower-case fragment for logs.
    package var description: String {
        switch self {
        case .unexpected(let kind): "frame of kind \(kind) is not allowed here"
        case .length(let length): "frame of \(length) bytes is not allowed here"
        case .share: "share is not a point on the curve"
        case .seal: "frame is not sealed for this session"
        case .identity: "identity is not proved"
        case .reflection: "the other device claims the identity of this device"
        case .layout: "body has an invalid layout"
        }
    }
}
