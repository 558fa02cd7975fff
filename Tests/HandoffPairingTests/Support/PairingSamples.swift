import HandoffAccount
import HandoffCrypto
import HandoffModel
import HandoffPairing
import Testing

/// Fixed values for pairing, equal in every run.
enum PairingSamples {
    static let exporter: [UInt8] = Array(0x40...0x5F)
    static let otherExporter: [UInt8] = Array(0x41...0x60)

    static func inviterKey() throws -> SigningKey { try key(0xA1) }
    static func joinerKey() throws -> SigningKey { try key(0xB2) }

    static func key(_ byte: UInt8) throws -> SigningKey {
        try SigningKey(seed: SecretBytes(copying: [UInt8](repeating: byte, count: 32)))
    }

    static func salt() throws -> PairingSalt {
        try #require(PairingSalt(bytes: Array(0x70...0x7F)))
    }

    /// Links give passwords without scrypt, so most tests use them. `number` distinguishes them.
    static func link(_ number: UInt8 = 1) -> PairingLink {
        PairingLink(
            secret: SecretBytes(copying: [UInt8](repeating: number, count: 16)), candidates: ["192.0.2.1:24863"])
    }

    static func password(_ number: UInt8 = 1) throws -> PairingPassword {
        try #require(try PairingPassword(link: link(number), salt: salt()))
    }

    static func scalar(_ byte: UInt8) throws -> P256Scalar {
        try #require(try P256Scalar(reducing: SecretBytes(copying: [UInt8](repeating: byte, count: 32))))
    }

    /// The share of a private scalar 0, which gives infinity: M or N times only the password.
    static func blindAlone(
        _ role: SPAKE2Role, _ password: P256Scalar, _ identities: SPAKE2Identities
    ) throws -> [UInt8] {
        let one = try #require(
            try P256Scalar(reducing: SecretBytes(copying: [UInt8](repeating: 0, count: 31) + [1])))
        let exchange = try SPAKE2(role: role, password: password, identities: identities, scalar: one)
        let share = try #require(P256Point(uncompressed: exchange.share))
        return try share.minus(P256Point(generatorTimes: one)).uncompressed
    }

    /// The inviter's account after it has admitted the joiner.
    static func account(admitting isAdmitting: Bool = true) throws -> AccountState {
        let inviter = try inviterKey()
        let account = try AccountState.creating(device: inviter, name: "first", now: 0)
        return isAdmitting
            ? try account.admitting(joinerKey().publicKey, name: "second", by: inviter) : account
    }
}
