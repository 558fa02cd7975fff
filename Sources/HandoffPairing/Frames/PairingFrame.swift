internal import HandoffAccount
internal import HandoffCrypto
internal import HandoffModel
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

/// What a ``PairingFrame`` carries; the numbers cross the network and never change.
package enum PairingFrameKind: UInt8, Sendable, CaseIterable {
    /// The salt of the window, inviter to joiner.
    case salt = 1
    /// The joiner's share of SPAKE2.
    case shareA = 2
    /// The inviter's share.
    case shareB = 3
    /// The joiner's proof that it knows the code.
    case confirmA = 4
    /// The inviter's proof.
    case confirmB = 5
    /// Who a side is, both ways; sealed.
    case identity = 6
    /// The account, inviter to joiner; sealed.
    case account = 7
    /// The joiner has stored the account; sealed, empty.
    case stored = 8
    /// Why a side ends the session, both ways.
    case refusal = 9

    /// Bytes of body that a frame of this kind may have, compared before anything is kept for it.
    package var bodyCount: ClosedRange<Int> {
        let tag = AESGCM.tagCount
        return switch self {
        case .salt: PairingSalt.byteCount...PairingSalt.byteCount
        case .shareA, .shareB: SPAKE2.shareCount...SPAKE2.shareCount
        case .confirmA, .confirmB: SPAKE2Keys.confirmationCount...SPAKE2Keys.confirmationCount
        case .identity: (PairingIdentity.leastCount + tag)...512
        case .account: (PairedAccount.headerCount + tag)...(RosterLimits.bytes + 64 * 1024)
        case .stored: tag...tag
        case .refusal: 1...3
        }
    }
}

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

/// How the other side broke the protocol; each ends the session without an answer.
package enum PairingViolation: Error, Equatable, Sendable, CustomStringConvertible {
    /// The state takes no frame of this kind, or there is none.
    case unexpected(kind: UInt8)
    /// The frame is longer or shorter than its kind may be.
    case length(UInt32)
    /// A share is no point of the curve.
    case share
    /// A sealed frame was not sealed with the key of this session, or not as the next one.
    case seal
    /// An identity has another layout, a wrong name, or is not signed by its key for this session.
    case identity
    /// The device is this one itself.
    case reflection
    /// A refusal or an account has another layout.
    case layout

    /// A lower-case fragment for logs.
    package var description: String {
        switch self {
        case .unexpected(let kind): "frame of kind \(kind) is not allowed here"
        case .length(let length): "frame of \(length) bytes is not allowed here"
        case .share: "share is no point of the curve"
        case .seal: "frame is not sealed for this session"
        case .identity: "identity is not proved"
        case .reflection: "the other device says that it is this one"
        case .layout: "body has another layout"
        }
    }
}
