internal import HandoffCrypto

/// The door before TLS for those who have the link: others cannot even open a session through it.
extension PairingLink {
    /// Bytes in front of the ClientHello record.
    package static let tokenCount = HMACSHA256.byteCount

    /// First byte of a TLS record that carries a handshake. A token never begins with it, so that the first byte of a
    /// connection tells whether a token comes.
    package static let handshakeRecord: UInt8 = 0x16

    /// What goes before `clientHello`, the whole first TLS record, 32 bytes; `nil` when it would begin like a record:
    /// then the caller makes another ClientHello, one in 256 times.
    package func token(clientHello: [UInt8]) -> [UInt8]? {
        let token = code(for: clientHello)
        return token.first == Self.handshakeRecord ? nil : token
    }

    /// Whether `token` is the one for this link and record; compares in constant time.
    package func isValid(_ token: [UInt8], clientHello: [UInt8]) -> Bool {
        ConstantTime.equal(token, code(for: clientHello))
    }

    private func code(for clientHello: [UInt8]) -> [UInt8] {
        HMACSHA256.authenticate([Array("handoff/1 pair gate".utf8)[...], clientHello[...]], key: secret)
    }
}
