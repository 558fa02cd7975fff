import HandoffCrypto
import Testing

/// Examples of RFC 7914, section 12.
struct ScryptTests {
    static let examples: [(passphrase: String, salt: String, n: UInt64, r: UInt64, p: UInt64, key: String)] = [
        (
            "", "", 16, 1, 1,
            """
            77d6576238657b203b19ca42c18a0497f16b4844e3074ae8dfdffa3fede21442\
            fcd0069ded0948f8326a753a0fc81f17e8d3e0fb2e0d3628cf35e20c38d18906
            """
        ),
        (
            "password", "NaCl", 1024, 8, 16,
            """
            fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b373162\
            2eaf30d92e22a3886ff109279d9830dac727afb94a83ee6d8360cbdfa2cc0640
            """
        ),
        (
            "pleaseletmein", "SodiumChloride", 16384, 8, 1,
            """
            7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2\
            d5432955613f0fcf62d49705242a9af9e61e85dc0d651e40dfcf017b45575887
            """
        ),
    ]

    @Test(arguments: examples)
    func `derived key is that of the RFC`(
        example: (passphrase: String, salt: String, n: UInt64, r: UInt64, p: UInt64, key: String)
    ) throws {
        let key = try Scrypt(n: example.n, r: example.r, p: example.p).derive(
            from: SecretBytes(copying: Array(example.passphrase.utf8)), salt: Array(example.salt.utf8), count: 64)
        #expect(key.exposedCopy() == hex(example.key))
    }

    /// Results of Python's `hashlib.scrypt` for the same input.
    @Test(arguments: [
        (
            Scrypt.Purpose.pairing, 48,
            """
            5db1d80008aedb2ba5d07cf7ec773a9ca5caea6952e9a4943866be72b44e1870\
            cae2d4c14665902d08a0e02febca41e4
            """
        ),
        (.file, 32, "898237d043dcec90a1d64c233eef95cbf89bb267ce2244982cd9b9d6cc950087"),
    ])
    func `each purpose has its own key`(purpose: Scrypt.Purpose, count: Int, expected: String) throws {
        let key = try Scrypt.standard.key(
            from: SecretBytes(copying: Array("12345678 🐎".utf8)), for: purpose, salt: Array(0..<16), count: count)
        #expect(key.exposedCopy() == hex(expected))
    }

    @Test(arguments: [(3, 8), (0, 8), (1 << 30, 8)] as [(UInt64, UInt64)])
    func `impossible cost is rejected`(n: UInt64, r: UInt64) {
        let passphrase = SecretBytes(copying: [1])
        #expect(throws: CryptoError.self) {
            try Scrypt(n: n, r: r, p: 1).derive(from: passphrase, salt: [2], count: 32)
        }
    }
}
