package import HandoffCrypto
package import HandoffModel

/// One signed statement of an account's roster.
///
/// It contains no time that any rule reads, so back-dating has no effect. Two statements are equal
/// when their contents are. The signature is not part of the id, because one text can have several
/// valid signatures.
package struct Statement: Sendable {
    /// Shared by all copies, because statements are immutable and often copied.
    private let storage: Storage

    /// The prefix of every signed statement, so that signatures for other purposes do not match.
    private static let domain = Array("handoff/1 statement".utf8) + [0]

    /// Creates a statement whose canonical bytes are known to encode `content`.
    init(
        accountID: AccountID, signer: PublicKey, content: StatementContent, canonical: [UInt8], signature: [UInt8]
    ) {
        storage = Storage(accountID, signer, content, canonical, signature)
    }

    /// Signs `content` with `key`.
    ///
    /// - Throws: ``StatementError/layout`` when the content has no canonical form, such as a name
    ///   of 65 bytes.
    package static func sign(
        _ content: StatementContent, accountID: AccountID, with key: SigningKey
    ) throws -> Statement {
        let canonical = encode(content, accountID: accountID, signer: key.publicKey)
        let signature = try key.sign(domain + canonical)
        // Decoding the result applies the receivers' rules to it.
        return try Statement(decoding: canonical + signature)
    }

    /// True if the signature is right and, for the founding statement, the account id; about 130
    /// microseconds.
    package var isGenuine: Bool {
        if case .found(let nonce) = content, AccountID(founder: signer, nonce: nonce) != accountID { return false }
        return signer.isValidSignature(signature, for: Self.domain + canonical)
    }

    /// Size of ``encoded`` in bytes.
    package var encodedCount: Int {
        canonical.count + signature.count
    }

    /// The account that the statement belongs to.
    package var accountID: AccountID { storage.accountID }

    /// The key that signed: that of a device, or of a ticket for ``StatementContent/use(_:)``.
    package var signer: PublicKey { storage.signer }

    package var content: StatementContent { storage.content }

    /// Ed25519 over a domain and the canonical bytes, 64 bytes. Unchecked until ``isGenuine`` is
    /// read.
    package var signature: [UInt8] { storage.signature }

    /// SHA-256 of the canonical bytes, which exclude the signature.
    package var id: Fingerprint { storage.id }

    /// The signer as a device or as a ticket.
    package var signerID: Fingerprint { storage.signerID }

    /// The device or ticket that this admits, for add, ticket and use.
    package var admitted: Fingerprint? { storage.admitted }

    /// The canonical bytes, stored because checking, hashing and sending all need them.
    var canonical: [UInt8] { storage.canonical }

    /// Canonical bytes, then the signature.
    package var encoded: [UInt8] {
        canonical + signature
    }
}

extension Statement: Hashable {
    package static func == (left: Statement, right: Statement) -> Bool {
        left.id == right.id
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(id)
    }
}

extension Statement {
    private final class Storage: Sendable {
        let accountID: AccountID
        let signer: PublicKey
        let content: StatementContent
        let canonical: [UInt8]
        let signature: [UInt8]
        let id: Fingerprint
        let signerID: Fingerprint
        let admitted: Fingerprint?

        init(
            _ accountID: AccountID, _ signer: PublicKey, _ content: StatementContent, _ canonical: [UInt8],
            _ signature: [UInt8]
        ) {
            self.accountID = accountID
            self.signer = signer
            self.content = content
            self.canonical = canonical
            self.signature = signature
            id = Fingerprint(hashing: canonical)
            admitted = content.admitted
            switch content.kind {
            case .use: signerID = Fingerprint(ticket: signer)
            case .found, .add, .ticket, .remove, .name, .epoch, .reserved: signerID = Fingerprint(DeviceID(signer))
            }
        }
    }
}

/// The content of a statement.
package enum StatementContent: Hashable, Sendable {
    /// The signer founded the account. `nonce` is 16 random bytes, and the account id is the hash
    /// of both.
    case found(nonce: [UInt8])
    /// The signer admits the device of this key.
    case add(PublicKey)
    /// The signer lets the holder of the private half of this key admit one device, once.
    case ticket(PublicKey)
    /// The signer is a ticket, and admits the device of this key.
    case use(PublicKey)
    /// The signer permanently removes a device or a ticket. Of those that the subject admitted,
    /// only `keeps` stay: devices and tickets, ascending, without duplicates.
    case remove(subject: Fingerprint, keeps: [Fingerprint])
    /// The signer gives a device the name `text`, 1 to 64 bytes. The name with the greatest counter
    /// wins.
    case name(subject: DeviceID, counter: UInt32, text: String)
    /// The signer generated the account key of epoch `n` for the devices that are live when exactly
    /// those of `removedDigest` are removed. `keyCommitment` is ``EpochKeys/commitment(to:)``.
    case epoch(n: UInt32, removedDigest: Fingerprint, keyCommitment: [UInt8])
    /// A statement of a later version, kind 128 to 255. It is stored and forwarded without effect.
    case reserved(kind: UInt8, fields: [UInt8])
}

/// The kind of a statement. The numbers are signed and stored, so they never change.
package enum StatementKind: UInt8, Sendable, CaseIterable {
    /// ``StatementContent/found(nonce:)``
    case found = 1
    /// ``StatementContent/add(_:)``
    case add = 2
    /// ``StatementContent/ticket(_:)``
    case ticket = 3
    /// ``StatementContent/use(_:)``
    case use = 4
    /// ``StatementContent/remove(subject:keeps:)``
    case remove = 5
    /// ``StatementContent/name(subject:counter:text:)``
    case name = 6
    /// ``StatementContent/epoch(n:removedDigest:keyCommitment:)``
    case epoch = 7
    /// ``StatementContent/reserved(kind:fields:)``: this number and all greater ones.
    case reserved = 128

    /// The kind with a number, or nil for unassigned numbers.
    init?(number: UInt8) {
        self.init(rawValue: min(number, Self.reserved.rawValue))
    }
}

extension StatementContent {
    /// The kind of the content.
    package var kind: StatementKind {
        switch self {
        case .found: .found
        case .add: .add
        case .ticket: .ticket
        case .use: .use
        case .remove: .remove
        case .name: .name
        case .epoch: .epoch
        case .reserved: .reserved
        }
    }

    /// The device or ticket that this admits, or nil for kinds that admit none.
    var admitted: Fingerprint? {
        switch self {
        case .add(let key), .use(let key): Fingerprint(DeviceID(key))
        case .ticket(let key): Fingerprint(ticket: key)
        case .found, .remove, .name, .epoch, .reserved: nil
        }
    }
}
