internal import HandoffCrypto
package import HandoffModel
internal import HandoffProtocol

/// Canonical bytes, with big-endian integers: kind u8, account 16, signer's key 32, then by kind
///
/// | kind | fields |
/// |---|---|
/// | found | nonce 16 |
/// | add, ticket, use | key 32 |
/// | remove | subject 32, count u16, then count x 32, strictly ascending |
/// | name | subject 32, counter u32, length u8, text in UTF-8 |
/// | epoch | n u32, removed digest 32, key commitment 32 |
/// | reserved, 128 to 255 | 0 to 512 bytes |
///
/// The signature follows, 64 bytes. `docs/protocol.md` is normative.
extension Statement {
    /// Size of the nonce of a founding statement.
    package static let nonceCount = 16
    /// Maximum length of a device name, in bytes of UTF-8.
    static let maxName = 64
    /// Maximum size of the fields of a reserved kind in bytes.
    static let maxReserved = 512
    /// Maximum number of keys that a removal may keep: the number that an account can ever know.
    package static let maxKept = RosterLimits.keys
    /// Size of the longest statement in bytes: a removal that keeps ``maxKept`` keys.
    package static let maxEncodedCount = 1 + 16 + 32 + 32 + 2 + maxKept * 32 + 64

    /// Decodes one whole statement. Trailing bytes are an error. The signature is not checked.
    package init(decoding bytes: [UInt8]) throws(StatementError) {
        do throws(ByteError) {
            try self.init(reading: bytes)
        } catch {
            throw .layout
        }
    }

    private init(reading bytes: [UInt8]) throws(ByteError) {
        var reader = ByteReader(bytes)
        let number = try reader.u8()
        guard let kind = StatementKind(number: number) else { throw .malformed }
        let account = AccountID(checked: try reader.bytes(AccountID.byteCount))
        let signer = try reader.publicKey()
        let content: StatementContent
        if kind == .reserved {
            let count = bytes.count - reader.consumed - PublicKey.signatureCount
            guard (0...Self.maxReserved).contains(count) else { throw .malformed }
            content = .reserved(kind: number, fields: try reader.bytes(count))
        } else {
            content = try Self.content(of: kind, &reader)
        }
        let canonical = Array(bytes.prefix(reader.consumed))
        let signature = try reader.bytes(PublicKey.signatureCount)
        try reader.finish()
        self.init(accountID: account, signer: signer, content: content, canonical: canonical, signature: signature)
    }

    private static func content(
        of kind: StatementKind, _ reader: inout ByteReader
    ) throws(ByteError) -> StatementContent {
        switch kind {
        case .found: return .found(nonce: try reader.bytes(nonceCount))
        case .add: return .add(try reader.publicKey())
        case .ticket: return .ticket(try reader.publicKey())
        case .use: return .use(try reader.publicKey())
        case .remove:
            let subject = try reader.fingerprint()
            let count = Int(try reader.u16())
            guard count <= maxKept else { throw .malformed }
            var keeps: [Fingerprint] = []
            for _ in 0..<count {
                let next = try reader.fingerprint()
                // A set has only one encoding. Otherwise the same removal could have many ids.
                if let last = keeps.last, last >= next { throw .malformed }
                keeps.append(next)
            }
            return .remove(subject: subject, keeps: keeps)
        case .name:
            let subject = DeviceID(checked: try reader.bytes(DeviceID.byteCount))
            let counter = try reader.u32()
            let count = Int(try reader.u8())
            guard count >= 1, count <= maxName else { throw .malformed }
            return .name(subject: subject, counter: counter, text: try reader.text(count))
        case .epoch:
            return .epoch(
                n: try reader.u32(), removedDigest: try reader.fingerprint(),
                keyCommitment: try reader.bytes(Fingerprint.byteCount))
        case .reserved: throw .malformed
        }
    }

    /// Encodes `content`, even if it is too long. ``init(decoding:)`` rejects it then.
    static func encode(_ content: StatementContent, accountID: AccountID, signer: PublicKey) -> [UInt8] {
        var writer = ByteWriter(capacity: 128)
        if case .reserved(let kind, _) = content { writer.u8(kind) } else { writer.u8(content.kind.rawValue) }
        writer.raw(accountID.bytes)
        writer.raw(signer.raw)
        switch content {
        case .found(let nonce):
            writer.raw(nonce)
        case .add(let key), .ticket(let key), .use(let key):
            writer.raw(key.raw)
        case .remove(let subject, let keeps):
            writer.raw(subject.bytes)
            writer.u16(UInt16(clamping: keeps.count))
            for kept in keeps { writer.raw(kept.bytes) }
        case .name(let subject, let counter, let text):
            writer.raw(subject.bytes)
            writer.u32(counter)
            writer.u8(UInt8(clamping: text.utf8.count))
            writer.text(text)
        case .epoch(let n, let removedDigest, let keyCommitment):
            writer.u32(n)
            writer.raw(removedDigest.bytes)
            writer.raw(keyCommitment)
        case .reserved(_, let fields):
            writer.raw(fields)
        }
        return writer.bytes
    }
}

extension ByteReader {
    /// Reads the 32 bytes of an Ed25519 public key. The first signature check detects bytes that
    /// are not a point.
    mutating func publicKey() throws(ByteError) -> PublicKey {
        guard let key = PublicKey(raw: try slice(PublicKey.byteCount)) else { throw .malformed }
        return key
    }

    /// Reads the 32-byte id of a device, ticket or statement.
    mutating func fingerprint() throws(ByteError) -> Fingerprint {
        Fingerprint(checked: try bytes(Fingerprint.byteCount))
    }
}

/// Why received statements are refused as a whole.
package enum StatementError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The bytes are not the canonical layout of a statement.
    case layout
    /// A statement belongs to another account.
    case foreignAccount(AccountID)
    /// A signature is wrong, or a founding statement does not match its account id.
    case signature(of: Fingerprint)
    /// A list lacks the founding statement that is required.
    case noFounder

    package var description: String {
        switch self {
        case .layout: "statement has no valid layout"
        case .foreignAccount(let account): "statement belongs to another account, \(account.short)"
        case .signature(let signer): "signature of \(signer.short) is wrong"
        case .noFounder: "founding statement is missing"
        }
    }
}
