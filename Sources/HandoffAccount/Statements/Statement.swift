package import HandoffCrypto
package import HandoffModel

/// One signed line of an account's roster.
///
/// It holds no time that any rule reads, so that back-dating it means nothing. Two statements are equal when they say
/// the same: the signature is no part of the id, since one text may have several valid signatures.
package struct Statement: Sendable {
    /// The account that this is about.
    package let accountID: AccountID
    /// The key that signed: of a device, or of a ticket for ``StatementContent/use(_:)``.
    package let signer: PublicKey
    /// What it says.
    package let content: StatementContent
    /// Ed25519 over ``signedBytes``, 64 bytes; not checked before ``isGenuine`` was asked.
    package let signature: [UInt8]

    /// SHA-256 of the canonical bytes, which leave the signature out.
    package let id: Fingerprint
    /// Who signed, as device or as ticket.
    package let signerID: Fingerprint
    /// Whom this admits, for add, ticket and use.
    package let admitted: Fingerprint?
    /// The canonical bytes; kept, since checking, hashing and sending all need them.
    let canonical: [UInt8]

    /// What every signed statement begins with, so that no signature of another purpose fits.
    private static let domain = Array("handoff/1 statement".utf8) + [0]

    /// A statement whose canonical bytes are known to say `content`.
    init(
        accountID: AccountID, signer: PublicKey, content: StatementContent, canonical: [UInt8], signature: [UInt8]
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
        case .found, .add, .ticket, .remove, .name, .epoch: signerID = Fingerprint(DeviceID(signer))
        }
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
