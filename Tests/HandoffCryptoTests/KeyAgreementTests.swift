import HandoffCrypto
import Testing

/// X25519 between Ed25519 keys. The expected values were computed by libsodium
/// (`crypto_sign_ed25519_pk_to_curve25519`, `crypto_sign_ed25519_sk_to_curve25519`,
/// `crypto_scalarmult_curve25519`).
struct KeyAgreementTests {
    struct Example: Sendable {
        let seeds: (String, String)
        let coordinates: (String, String)
        let secret: String
    }

    static let examples = [
        Example(
            seeds: (String(repeating: "a1", count: 32), String(repeating: "b2", count: 32)),
            coordinates: (
                "c758cc62fd0bf6361a1ed43a9b684e289f60cea7891a986e006acc668ee34561",
                "3ffaf014e4ad0d6f7c94ee696dac31e07d9ef59cacb7e361d30bbea5274b1a7d"
            ),
            secret: "cd523e965ff2b72ee22d417e6aa85869121dd78d819b1149a7d51538c590a41b"),
        Example(
            seeds: (
                "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f", String(repeating: "00", count: 32)
            ),
            coordinates: (
                "4701d08488451f545a409fb58ae3e58581ca40ac3f7f114698cd71deac73ca01",
                "5bf55c73b82ebe22be80f3430667af570fae2556a6415e6b30d4065300aa947d"
            ),
            secret: "069ec38161de3149ac50c8f5ef2785e1aee02998e9cfa1e25966fe6c515b3129"),
        Example(
            seeds: (
                "6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b",
                "d4735e3a265e16eee03f59718b9b5d03019c07d8b6c51f90da3a666eec13ab35"
            ),
            coordinates: (
                "f9301f3fe001aa031d04df3916683378d996187067005761465ba3975ccc5e06",
                "31a9716aa06dad3b97292c57630d29238fabba4e64d88b8bcc05d159d858f176"
            ),
            secret: "b39ccfb2d88db0de5e24d8156f2d2bf892359b1edb0952ce2688bbb466544169"),
    ]

    private static func key(_ seed: String) throws -> SigningKey {
        try SigningKey(seed: SecretBytes(copying: hex(seed)))
    }

    @Test(arguments: examples) func `agrees with libsodium`(_ example: Example) throws {
        let (one, other) = (try Self.key(example.seeds.0), try Self.key(example.seeds.1))
        #expect(one.publicKey.montgomery == hex(example.coordinates.0))
        #expect(other.publicKey.montgomery == hex(example.coordinates.1))
        #expect(try one.sharedSecret(with: other.publicKey).exposedCopy() == hex(example.secret))
        #expect(try other.sharedSecret(with: one.publicKey).exposedCopy() == hex(example.secret))
    }

    @Test func `the base point of the RFC is mapped to its counterpart`() throws {
        // RFC 8032 section 5.1: B has y = 4/5; RFC 7748 section 4.1: its u is 9.
        let base = try #require(PublicKey(raw: [0x58] + [UInt8](repeating: 0x66, count: 31)))
        #expect(base.montgomery == [9] + [UInt8](repeating: 0, count: 31))
    }

    @Test func `the sign of x has no effect`() throws {
        let key = try Self.key(Self.examples[0].seeds.0).publicKey
        var raw = key.raw
        raw[31] ^= 0x80
        #expect(try #require(PublicKey(raw: raw)).montgomery == key.montgomery)
    }

    /// All encodings of points of small order, including non-reduced ones.
    private static let weak = [
        "0100000000000000000000000000000000000000000000000000000000000000",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "0000000000000000000000000000000000000000000000000000000000000080",
        "0000000000000000000000000000000000000000000000000000000000000000",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
        "0100000000000000000000000000000000000000000000000000000000000080",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    ]

    @Test(arguments: weak) func `a point of small order or out of range is rejected`(_ text: String) throws {
        let key = try Self.key(Self.examples[0].seeds.0)
        let point = try #require(PublicKey(raw: hex(text)))
        #expect(throws: CryptoError.self) { try key.sharedSecret(with: point) }
        // The rejected key leaves no error in this thread's queue.
        #expect(OpenSSL.takeErrors() == "no reason given")
    }
}
