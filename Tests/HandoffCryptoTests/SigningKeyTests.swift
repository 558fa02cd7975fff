import HandoffCrypto
import Testing

/// Examples of RFC 8032, section 7.1.
struct SigningKeyTests {
    static let examples: [(seed: String, publicKey: String, message: String, signature: String)] = [
        (
            "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
            "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
            """
            e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46b\
            d25bf5f0595bbe24655141438e7a100b
            """
        ),
        (
            "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
            "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72",
            """
            92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c\
            387b2eaeb4302aeeb00d291612bb0c00
            """
        ),
        (
            "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
            "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "af82",
            """
            6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc659\
            4a7c15e9716ed28dc027beceea1ec40a
            """
        ),
    ]

    @Test(arguments: examples)
    func `signature is that of the RFC`(
        example: (seed: String, publicKey: String, message: String, signature: String)
    ) throws {
        let key = try SigningKey(seed: SecretBytes(copying: hex(example.seed)))
        #expect(key.publicKey.raw == hex(example.publicKey))
        let signature = try key.sign(hex(example.message))
        #expect(signature == hex(example.signature))
        #expect(key.publicKey.isValidSignature(signature, for: hex(example.message)))
    }

    @Test func `another message, key or signature is not valid`() throws {
        let key = try SigningKey()
        let signature = try key.sign([1, 2, 3])
        #expect(!key.publicKey.isValidSignature(signature, for: [1, 2, 4]))
        #expect(!(try SigningKey().publicKey.isValidSignature(signature, for: [1, 2, 3])))
        #expect(!key.publicKey.isValidSignature(Array(signature.dropLast()), for: [1, 2, 3]))
        #expect(!key.publicKey.isValidSignature(signature + [0], for: [1, 2, 3]))
        #expect(!key.publicKey.isValidSignature([], for: [1, 2, 3]))
        var changed = signature
        changed[0] ^= 1
        #expect(!key.publicKey.isValidSignature(changed, for: [1, 2, 3]))
    }

    @Test func `a stored seed creates the same key`() throws {
        let key = try SigningKey()
        let again = try SigningKey(seed: key.seed)
        #expect(again.publicKey == key.publicKey)
        #expect(try SigningKey().publicKey != key.publicKey)
    }

    @Test(arguments: [0, 31, 33])
    func `seed of another length is rejected`(count: Int) throws {
        let seed = try SecretBytes(random: count)
        #expect(throws: CryptoError.wrongLength(of: "Ed25519 seed", count: count)) { try SigningKey(seed: seed) }
    }
}
