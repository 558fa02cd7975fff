package import HandoffCrypto
package import HandoffModel

/// One signed line of an account's roster.
///
/// It holds no time that any rule reads, so that back-dating it means nothing. Two statements are equal when they say
/// the same: the signature is no part of the id, since one text may have several valid signatures.
package struct Statement: Sendable {
    /// Shared by all copies: a statement is handed around a lot, and never changes.
    private let storage: Storage

    /// What every signed statement begins with, so that no signature of another purpose fits.
    private static let domain = Array("handoff/1 statement".utf8) + [0]

    /// A statement whose canonical bytes are known to say `content`.
    init(
        accountID: AccountID, signer: PublicKey, content: StatementContent, canonical: [UInt8], signature: [UInt8]
    ) {
        storage = Storage(accountID, signer, content, canonical, signature)
    }

    /// Says `content` in the name of `key`'s owner.
    ///
    /// - Throws: ``StatementError/layout`` when the content has no canonical form, such as a name of 65 bytes.
    package static func sign(
        _ content: StatementContent, accountID: AccountID, with key: SigningKey
    ) throws -> Statement {
        let canonical = encode(content, accountID: accountID, signer: key.publicKey)
        let signature = try key.sign(domain + canonical)
        // Reading it back is what decides whether others can: one rule for both sides.
        return try Statement(decoding: canonical + signature)
    }

    /// Whether the signature, and for the founding statement the account's id, are right; about 130 microseconds.
    package var isGenuine: Bool {
        if case .found(let nonce) = content, AccountID(founder: signer, nonce: nonce) != accountID { return false }
        return signer.isValidSignature(signature, for: Self.domain + canonical)
    }

    /// Bytes of ``encoded``.
    package var encodedCount: Int {
        canonical.count + signature.count
    }

    /// The account that this is about.
    package var accountID: AccountID { storage.accountID }

    /// The key that signed: of a device, or of a ticket for ``StatementContent/use(_:)``.
    package var signer: PublicKey { storage.signer }

    /// What it says.
    package var content: StatementContent { storage.content }

    /// Ed25519 over a domain and the canonical bytes, 64 bytes; not checked before ``isGenuine`` was asked.
    package var signature: [UInt8] { storage.signature }

    /// SHA-256 of the canonical bytes, which leave the signature out.
    package var id: Fingerprint { storage.id }

    /// Who signed, as device or as ticket.
    package var signerID: Fingerprint { storage.signerID }

    /// Whom this admits, for add, ticket and use.
    package var admitted: Fingerprint? { storage.admitted }

    /// The canonical bytes; kept, since checking, hashing and sending all need them.
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

/// What one statement says.
package enum StatementContent: Hashable, Sendable {
    /// The signer founded the account; `nonce` is 16 random bytes, and the account's id is the hash of both.
    case found(nonce: [UInt8])
    /// The signer admits the device of this key.
    case add(PublicKey)
    /// The signer lets whoever holds the private half of this key admit one device, once.
    case ticket(PublicKey)
    /// The signer is a ticket, and admits the device of this key.
    case use(PublicKey)
    /// The signer removes a device or a ticket for ever. Of those whom the subject admitted, only `keeps` stay: devices
    /// and tickets, ascending, each once.
    case remove(subject: Fingerprint, keeps: [Fingerprint])
    /// The signer calls a device `text`, 1 to 64 bytes; of several names the greatest counter holds.
    case name(subject: DeviceID, counter: UInt32, text: String)
    /// The signer made the account key of epoch `n`, for those who are live when exactly those of `removedDigest` are
    /// removed; `keyCommitment` is ``EpochKeys/commitment(to:)``.
    case epoch(n: UInt32, removedDigest: Fingerprint, keyCommitment: [UInt8])
    /// A statement of a later version, kind 128 to 255: kept and passed on, without effect.
    case reserved(kind: UInt8, fields: [UInt8])
}

/// The kind of a statement; the numbers are signed and stored, and never change.
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

    /// The kind of a number; nil for the numbers that no statement has.
    init?(number: UInt8) {
        self.init(rawValue: min(number, Self.reserved.rawValue))
    }
}

extension StatementContent {
    /// The kind, without what it says.
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

    /// The device or ticket that this admits; nil for kinds that admit nobody.
    var admitted: Fingerprint? {
        switch self {
        case .add(let key), .use(let key): Fingerprint(DeviceID(key))
        case .ticket(let key): Fingerprint(ticket: key)
        case .found, .remove, .name, .epoch, .reserved: nil
        }
    }
}
