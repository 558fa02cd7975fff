import HandoffCrypto
import Testing

/// Examples of RFC 5869, appendix A.
struct HKDFTests {
    static let examples: [(input: [UInt8], salt: [UInt8], info: [UInt8], output: String)] = [
        (
            [UInt8](repeating: 0x0b, count: 22), Array(0x00...0x0c), Array(0xf0...0xf9),
            "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865"
        ),
        (
            Array(0x00...0x4f), Array(0x60...0xaf), Array(0xb0...0xff),
            """
            b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c59045a99cac7827271cb41c65e590e09\
            da3275600c2f09b8367793a9aca3db71cc30c58179ec3e87c14c01d5c1f3434f1d87
            """
        ),
        (
            [UInt8](repeating: 0x0b, count: 22), [], [],
            "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8"
        ),
    ]

    @Test(arguments: examples)
    func `derived key is that of the RFC`(
        example: (input: [UInt8], salt: [UInt8], info: [UInt8], output: String)
    ) throws {
        let expected = hex(example.output)
        let key = try HKDF.derive(
            SecretBytes(copying: example.input), salt: example.salt, info: example.info, count: expected.count)
        #expect(key.exposedCopy() == expected)
    }

    @Test func `expansion without extraction is that of the RFC`() throws {
        let key = SecretBytes(copying: hex("077709362c2e32df0ddc3f0dc47bba6390b6c73bb50f9c3122ec844ad7c2b3e5"))
        let expanded = try HKDF.expand(key, info: Array(0xf0...0xf9), count: 42)
        #expect(expanded.exposedCopy() == hex(Self.examples[0].output))
    }

    @Test(arguments: [-1, 0, 255 * 32 + 1])
    func `impossible length is rejected`(count: Int) {
        let key = SecretBytes(copying: [UInt8](repeating: 1, count: 32))
        #expect(throws: CryptoError.wrongLength(of: "derived key", count: count)) {
            try HKDF.expand(key, info: [], count: count)
        }
    }
}
