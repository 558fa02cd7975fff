package import HandoffCrypto
package import HandoffModel
package import HandoffProtocol

/// The secrets of two devices, or of a device and an open ticket, that nobody else has, also no other member: by them the two
/// find each other and pass each other's gate, whatever epoch either is in.
///
/// They follow from the two keys and the account alone, so they outlive every epoch; and a device that was removed has those
/// that it shared itself, but none of two others.
package struct PairwiseKeys: Sendable {
    /// Makes and checks the tokens by which either of the two opens the gate of the other.
    package let gate: SecretBytes
    private let secret: SecretBytes
    private let acknowledging: SecretBytes

    /// What two devices share. Throws when the other key allows no agreement: nobody can talk to such a device.
    package init(device own: SigningKey, device other: PublicKey, accountID: AccountID) throws(CryptoError) {
        let ids = [Fingerprint(DeviceID(own.publicKey)), Fingerprint(DeviceID(other))]
        try self.init(own, other, ids, accountID)
    }

    /// What a device shares with an open ticket, on the device's side.
    package init(device own: SigningKey, ticket: PublicKey, accountID: AccountID) throws(CryptoError) {
        try self.init(own, ticket, [Fingerprint(DeviceID(own.publicKey)), Fingerprint(ticket: ticket)], accountID)
    }

    /// What a device shares with an open ticket, on the side of who holds the ticket.
    package init(ticket: SigningKey, device: PublicKey, accountID: AccountID) throws(CryptoError) {
        try self.init(
            ticket, device, [Fingerprint(ticket: ticket.publicKey), Fingerprint(DeviceID(device))], accountID)
    }

    /// `S = HKDF(X25519 of both keys, accountID, "handoff/1 pairwise" || smaller id || greater id)`, gate key
    /// `HKDF-Expand(S, "gate")`, key of acknowledgements `HKDF-Expand(S, "ack")`.
    private init(
        _ own: SigningKey, _ other: PublicKey, _ ids: [Fingerprint], _ accountID: AccountID
    ) throws(CryptoError) {
        let shared = try own.sharedSecret(with: other)
        let info = Array("handoff/1 pairwise".utf8) + ids.sorted().flatMap(\.bytes)
        secret = try HKDF.derive(shared, salt: accountID.bytes, info: info)
        gate = try HKDF.expand(secret, info: Array("gate".utf8))
        acknowledging = try HKDF.expand(secret, info: Array("ack".utf8))
    }

    /// The mark that one of the two writes beside its record under `label` for the other one: bytes that only these two can tell
    /// from random ones.
    ///
    /// - Parameters:
    ///   - salt: the one of the record, 16 bytes: under each the mark is another one.
    ///   - endpoint: the endpoint of the writer for which the mark counts: ``Marks/endpoint(_:port:)``.
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

    /// The ids of the places for one endpoint: first that of the mark by the writer's clock, then those of the echoes. They differ, as
    /// two equal ones would show that the places are no random bytes.
    func markIDs(under label: Label, salt: [UInt8], endpoint: [UInt8]) -> [[UInt8]] {
        let code = HMACSHA256.authenticate(
            [Array("mark".utf8)[...], label.bytes[...], salt[...], endpoint[...]], key: secret)
        return (0...Marks.maxEchoes).map { Array(code.dropFirst($0 * Marks.idCount).prefix(Marks.idCount)) }
    }

    /// The bytes behind the id.
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

    /// The acknowledgement by `device`, one of the two, of the other one's advert.
    ///
    /// - Parameters:
    ///   - host: the host of `device` at which the advert arrived, 16 bytes.
    ///   - salt: that of the datagram which arrived. It was random, so it names one datagram from one label to another.
    package func acknowledgement(
        by device: DeviceID, of position: Position, at host: [UInt8], salt: [UInt8]
    ) -> Acknowledgement {
        Acknowledgement(deviceID: device, position: position, host: host) { code(of: $0, salt: salt) }
    }

    /// True if the device that an acknowledgement names has made it, of the datagram with this salt.
    package func isGenuine(_ acknowledgement: Acknowledgement, salt: [UInt8]) -> Bool {
        ConstantTime.equal(acknowledgement.code, code(of: acknowledgement.content, salt: salt))
    }

    private func code(of content: [UInt8], salt: [UInt8]) -> [UInt8] {
        let code = HMACSHA256.authenticate(
            [Array("handoff/1 ack".utf8)[...], salt[...], content[...]], key: acknowledging)
        return Array(code.prefix(Acknowledgement.codeCount))
    }
}
