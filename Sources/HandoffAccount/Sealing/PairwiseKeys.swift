package import HandoffCrypto
package import HandoffModel
package import HandoffProtocol

/// The secrets that only two devices, or a device and an open ticket, share. With them the two find
/// each other and pass each other's gate in any epoch.
///
/// They are derived only from the two keys and the account, so they outlive every epoch. A removed
/// device keeps the secrets that it shared itself but has none that two other devices share.
package struct PairwiseKeys: Sendable {
    /// Creates and checks the tokens with which each of the two opens the other's gate.
    package let gate: SecretBytes
    /// Seals the copies of activities that one of the two has sent to the other.
    let kept: SecretBytes
    private let secret: SecretBytes
    private let acknowledgementKey: SecretBytes

    /// Derives the secrets of two devices. Throws if the other key permits no key agreement; such a
    /// device cannot communicate.
    package init(device own: SigningKey, device other: PublicKey, accountID: AccountID) throws(CryptoError) {
        let ids = [Fingerprint(DeviceID(own.publicKey)), Fingerprint(DeviceID(other))]
        try self.init(own, other, ids, accountID)
    }

    /// Derives the secrets shared with an open ticket, on the device's side.
    package init(device own: SigningKey, ticket: PublicKey, accountID: AccountID) throws(CryptoError) {
        try self.init(own, ticket, [Fingerprint(DeviceID(own.publicKey)), Fingerprint(ticket: ticket)], accountID)
    }

    /// Derives the secrets shared with a device, on the ticket holder's side.
    package init(ticket: SigningKey, device: PublicKey, accountID: AccountID) throws(CryptoError) {
        try self.init(
            ticket, device, [Fingerprint(ticket: ticket.publicKey), Fingerprint(DeviceID(device))], accountID)
    }

    /// `S = HKDF(X25519 of both keys, accountID, "handoff/1 pairwise" || smaller id || greater id)`,
    /// gate key `HKDF-Expand(S, "gate")`, key of acknowledgements `HKDF-Expand(S, "ack")`, key of
    /// sealed copies `HKDF-Expand(S, "kept")`.
    private init(
        _ own: SigningKey, _ other: PublicKey, _ ids: [Fingerprint], _ accountID: AccountID
    ) throws(CryptoError) {
        let shared = try own.sharedSecret(with: other)
        let info = Array("handoff/1 pairwise".utf8) + ids.sorted().flatMap(\.bytes)
        secret = try HKDF.derive(shared, salt: accountID.bytes, info: info)
        gate = try HKDF.expand(secret, info: Array("gate".utf8))
        acknowledgementKey = try HKDF.expand(secret, info: Array("ack".utf8))
        kept = try HKDF.expand(secret, info: Array("kept".utf8))
    }

    /// The mark that one of the two adds to its record under `label` for the other. Only these two
    /// can distinguish it from random bytes.
    ///
    /// - Parameters:
    ///   - salt: the salt of the record, 16 bytes. Each salt gives a different mark.
    ///   - endpoint: the endpoint of the writer that the mark applies to:
    ///     ``Marks/endpoint(_:port:)``.
    package func mark(under label: Label, salt: [UInt8], endpoint: [UInt8], _ freshness: Freshness) -> [UInt8] {
        let number =
            switch freshness {
            case .period: 0
            case .echo(_, let number): number
            }
        let ids = markIDs(under: label, salt: salt, endpoint: endpoint)
        precondition(ids.indices.contains(number), "an echo in a place of number \(number)")
        return ids[number] + markProof(under: label, salt: salt, endpoint: endpoint, freshness)
    }

    /// The ids of the marks for one endpoint: first the mark by the writer's clock, then the
    /// echoes. They differ, because equal ids would reveal that the places are not random bytes.
    func markIDs(under label: Label, salt: [UInt8], endpoint: [UInt8]) -> [[UInt8]] {
        let code = HMACSHA256.authenticate(
            [Array("mark".utf8)[...], label.bytes[...], salt[...], endpoint[...]], key: secret)
        return (0...Marks.maxEchoes).map { Array(code.dropFirst($0 * Marks.idCount).prefix(Marks.idCount)) }
    }

    /// The proof that follows the id of a mark.
    func markProof(under label: Label, salt: [UInt8], endpoint: [UInt8], _ freshness: Freshness) -> [UInt8] {
        let (purpose, value): (String, [UInt8]) =
            switch freshness {
            case .period(let period): ("fresh", period.number.bigEndianBytes)
            case .echo(let echoed, _): ("echo", echoed)
            }
        let code = HMACSHA256.authenticate(
            [Array(purpose.utf8)[...], label.bytes[...], salt[...], endpoint[...], value[...]], key: secret)
        return Array(code.prefix(Marks.proofCount))
    }

    /// The acknowledgement by `device`, one of the two, of the other's advert.
    ///
    /// - Parameters:
    ///   - host: the host of `device` at which the advert arrived, 16 bytes.
    ///   - salt: the salt of the received datagram. It is random, so it identifies one datagram
    ///     from one label to another.
    package func acknowledgement(
        by device: DeviceID, of position: Position, at host: [UInt8], salt: [UInt8]
    ) -> Acknowledgement {
        Acknowledgement(deviceID: device, position: position, host: host) { code(of: $0, salt: salt) }
    }

    /// Returns whether the named device created the acknowledgement for the datagram with this
    /// salt.
    package func isGenuine(_ acknowledgement: Acknowledgement, salt: [UInt8]) -> Bool {
        ConstantTime.equal(acknowledgement.code, code(of: acknowledgement.content, salt: salt))
    }

    private func code(of content: [UInt8], salt: [UInt8]) -> [UInt8] {
        let code = HMACSHA256.authenticate(
            [Array("handoff/1 ack".utf8)[...], salt[...], content[...]], key: acknowledgementKey)
        return Array(code.prefix(Acknowledgement.codeCount))
    }
}
