import HandoffCrypto
import Testing

/// Examples of RFC 4231.
struct HMACSHA256Tests {
    static let examples: [(key: [UInt8], message: String, code: String)] = [
        (
            [UInt8](repeating: 0x0b, count: 20), "Hi There",
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
        ),
        (
            Array("Jefe".utf8), "what do ya want for nothing?",
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        ),
        (
            [UInt8](repeating: 0xaa, count: 131), "Test Using Larger Than Block-Size Key - Hash Key First",
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        ),
        // Python: hmac.new(b"", b"", "sha256")
        ([], "", "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad"),
    ]

    @Test(arguments: examples)
    func `code is that of the RFC`(example: (key: [UInt8], message: String, code: String)) {
        let key = SecretBytes(copying: example.key)
        let message = Array(example.message.utf8)
        #expect(HMACSHA256.authenticate(message, key: key) == hex(example.code))
        let middle = message.count / 2
        #expect(HMACSHA256.authenticate([message[..<middle], [], message[middle...]], key: key) == hex(example.code))
    }

    @Test func `a key does not affect the next code`() {
        let long = SecretBytes(copying: [UInt8](repeating: 1, count: 64))
        let empty = SecretBytes(copying: [UInt8]())
        let before = HMACSHA256.authenticate([7], key: empty)
        _ = HMACSHA256.authenticate([7], key: long)
        #expect(HMACSHA256.authenticate([7], key: empty) == before)
    }
}
