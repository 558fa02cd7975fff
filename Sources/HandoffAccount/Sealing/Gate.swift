package import HandoffCrypto
package import HandoffProtocol

/// The door before TLS: 32 bytes that only a member can write, good for one ClientHello at one server.
package enum Gate {
    /// Bytes in front of the ClientHello record.
    package static let tokenCount = 32

    /// Bytes of a TLS record's header.
    package static let recordHeaderCount = 5

    /// Longest ClientHello record that is read, without its header.
    package static let maximumRecordBody = 1024

    /// Seconds for which a static label holds; one of these before and after is taken too.
    private static let staticPeriod: UInt64 = 1024

    private static let handshakeType: UInt8 = 22

    /// What a client sends first: a code over the server's label and the whole ClientHello record.
    ///
    /// - Parameter gateKey: the `gate` sub-key of the epoch that the label belongs to.
    package static func token(gateKey: SecretBytes, label: Label, clientHello: [UInt8]) -> [UInt8] {
        HMACSHA256.authenticate(
            [Array("handoff/1 gate".utf8)[...], label.bytes[...], clientHello[...]], key: gateKey)
    }

    /// True when `token` is the one for this label and ClientHello; compares in constant time.
    package static func isValid(
        _ token: [UInt8], gateKey: SecretBytes, label: Label, clientHello: [UInt8]
    ) -> Bool {
        ConstantTime.equal(token, self.token(gateKey: gateKey, label: label, clientHello: clientHello))
    }

    /// Length of the record behind the 5 bytes of its header; nil when it is no handshake record or too long.
    package static func recordBodyCount(header: [UInt8]) -> Int? {
        guard header.count == recordHeaderCount, header[0] == handshakeType else { return nil }
        let count = Int(header[3]) << 8 | Int(header[4])
        return count > 0 && count <= maximumRecordBody ? count : nil
    }

    /// The label that stands for a server which is known by its address alone, at `unixSeconds`.
    package static func staticLabel(labelKey: SecretBytes, unixSeconds: UInt64) -> Label {
        staticLabel(labelKey, period: unixSeconds / staticPeriod)
    }

    /// The static labels that a server takes at `unixSeconds`: the present one, the one before, the one after.
    package static func staticLabels(labelKey: SecretBytes, unixSeconds: UInt64) -> [Label] {
        let period = unixSeconds / staticPeriod
        return [period, period &- 1, period &+ 1].map { staticLabel(labelKey, period: $0) }
    }

    private static func staticLabel(_ key: SecretBytes, period: UInt64) -> Label {
        var writer = ByteWriter()
        writer.text("static")
        writer.u64(period)
        return Label.checked(Array(HMACSHA256.authenticate(writer.bytes, key: key).prefix(Label.byteCount)))
    }
}
