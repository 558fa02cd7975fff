import HandoffCrypto
import Testing

/// Test cases 13, 14 and 16 of the GCM specification (McGrew and Viega), which NIST adopted.
struct AESGCMTests {
    static let examples: [(key: String, nonce: String, data: String, plaintext: String, sealed: String)] = [
        (
            String(repeating: "00", count: 32), String(repeating: "00", count: 12), "", "",
            "530f8afbc74536b9a963b4f1c4cb738b"
        ),
        (
            String(repeating: "00", count: 32), String(repeating: "00", count: 12), "",
            String(repeating: "00", count: 16),
            "cea7403d4d606b6e074ec5d3baf39d18 d0d1c8a799996bf0265b98b5d48ab919"
        ),
        (
            "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308", "cafebabefacedbaddecaf888",
            "feedfacedeadbeeffeedfacedeadbeefabaddad2",
            """
            d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525\
            b16aedf5aa0de657ba637b39
            """,
            """
            522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b1056828838\
            c5f61e6393ba7a0abcc9f662 76fc6ece0f4e1768cddf8853bb2d551b
            """
        ),
    ]

    @Test(arguments: examples)
    func `sealed bytes are those of the specification`(
        example: (key: String, nonce: String, data: String, plaintext: String, sealed: String)
    ) throws {
        let key = SecretBytes(copying: hex(example.key))
        let nonce = hex(example.nonce)
        let data = hex(example.data)
        let sealed = try AESGCM.seal(hex(example.plaintext), key: key, nonce: nonce, additionalData: data)
        #expect(sealed == hex(example.sealed))
        #expect(AESGCM.open(sealed, key: key, nonce: nonce, additionalData: data) == hex(example.plaintext))
    }

    @Test func `every changed bit is detected`() throws {
        let key = try SecretBytes(random: 32)
        let sealed = try AESGCM.seal([1, 2, 3], key: key, additionalData: [9])
        for bit in 0..<sealed.count * 8 {
            var changed = sealed
            changed[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(AESGCM.open(changed, key: key, additionalData: [9]) == nil)
        }
        #expect(AESGCM.open(sealed, key: key, additionalData: [9]) == [1, 2, 3])
    }

    @Test func `another key, nonce, data or length is rejected`() throws {
        let key = try SecretBytes(random: 32)
        let sealed = try AESGCM.seal([1, 2, 3], key: key, additionalData: [9])
        #expect(AESGCM.open(sealed, key: try SecretBytes(random: 32), additionalData: [9]) == nil)
        #expect(AESGCM.open(sealed, key: key, nonce: [UInt8](repeating: 1, count: 12), additionalData: [9]) == nil)
        #expect(AESGCM.open(sealed, key: key, nonce: [0], additionalData: [9]) == nil)
        #expect(AESGCM.open(sealed, key: key, additionalData: []) == nil)
        #expect(AESGCM.open(sealed, key: key, additionalData: [9, 0]) == nil)
        #expect(AESGCM.open(sealed, key: try SecretBytes(random: 16), additionalData: [9]) == nil)
        for count in 0..<sealed.count {
            #expect(AESGCM.open(Array(sealed.prefix(count)), key: key, additionalData: [9]) == nil)
        }
    }

    @Test func `keys and nonces of other lengths are an error`() throws {
        let short = try SecretBytes(random: 16)
        #expect(throws: CryptoError.wrongLength(of: "AES-256 key", count: 16)) {
            try AESGCM.seal([], key: short, additionalData: [])
        }
        let key = try SecretBytes(random: 32)
        #expect(throws: CryptoError.wrongLength(of: "GCM nonce", count: 8)) {
            try AESGCM.seal([], key: key, nonce: [UInt8](repeating: 0, count: 8), additionalData: [])
        }
    }
}

extension AESGCMTests {
    @Test(arguments: examples)
    func `secrets are sealed like other bytes`(
        example: (key: String, nonce: String, data: String, plaintext: String, sealed: String)
    ) throws {
        let key = SecretBytes(copying: hex(example.key))
        let plaintext = SecretBytes(copying: hex(example.plaintext))
        let nonce = hex(example.nonce)
        let data = hex(example.data)
        let sealed = try AESGCM.seal(plaintext, key: key, nonce: nonce, additionalData: data)
        #expect(sealed.exposedCopy() == hex(example.sealed))
        let framed = SecretBytes.concatenated([SecretBytes(copying: [1, 2]), sealed, SecretBytes(copying: [3])])
        let range = 2..<(2 + sealed.count)
        #expect(AESGCM.open(framed, in: range, key: key, nonce: nonce, additionalData: data) == plaintext)
        for wrong in [0..<sealed.count, 2..<(framed.count), 2..<9, 2..<(framed.count + 1), -1..<20] {
            #expect(AESGCM.open(framed, in: wrong, key: key, nonce: nonce, additionalData: data) == nil)
        }
    }
}
