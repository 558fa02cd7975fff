import HandoffCrypto
import Testing

/// Examples of FIPS 180-4.
struct SHA256Tests {
    static let examples: [(message: String, digest: String)] = [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
    ]

    @Test(arguments: examples)
    func `digest is that of the standard`(example: (message: String, digest: String)) {
        let bytes = Array(example.message.utf8)
        #expect(SHA256.hash(bytes) == hex(example.digest))
        #expect(SHA256.hash(([0] + bytes)[1...]) == hex(example.digest))
        #expect(SHA256.hash(SecretBytes(copying: bytes)) == hex(example.digest))
    }

    @Test func `hashing in pieces results in the digest of the whole`() {
        let message = (0..<1000).map { UInt8(truncatingIfNeeded: $0) }
        let hasher = SHA256Hasher()
        hasher.update(message[..<1])
        #expect(hasher.digest() == SHA256.hash(message[..<1]), "an intermediate digest has no effect")
        hasher.update(message[1..<640])
        hasher.update([])
        hasher.update(message[640...])
        #expect(hasher.digest() == SHA256.hash(message))
    }
}
