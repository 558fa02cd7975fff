import HandoffCrypto
import Testing

struct SecretBytesTests {
    @Test func `copies contain the given bytes`() {
        let bytes: [UInt8] = [1, 2, 3]
        #expect(SecretBytes(copying: bytes).exposedCopy() == bytes)
        #expect(SecretBytes(copying: bytes[1...]).exposedCopy() == [2, 3])
        #expect(bytes.withUnsafeBytes { SecretBytes(copying: $0) }.exposedCopy() == bytes)
        #expect(SecretBytes(copying: [UInt8]()).count == 0)
    }

    @Test func `span contains the bytes`() {
        let sum = SecretBytes(copying: [1, 2, 3]).withSpan { span in
            span.indices.reduce(0) { $0 + Int(span[$1]) }
        }
        #expect(sum == 6)
    }

    @Test func `parts are joined in order`() {
        let parts = [SecretBytes(copying: [1, 2]), SecretBytes(copying: [UInt8]()), SecretBytes(copying: [3])]
        #expect(SecretBytes.concatenated(parts).exposedCopy() == [1, 2, 3])
        #expect(SecretBytes.concatenated([]).count == 0)
    }

    @Test func `equality compares all bytes and the length`() {
        let secret = SecretBytes(copying: [1, 2, 3])
        #expect(secret == SecretBytes(copying: [1, 2, 3]))
        #expect(secret != SecretBytes(copying: [1, 2, 4]))
        #expect(secret != SecretBytes(copying: [0, 2, 3]))
        #expect(secret != SecretBytes(copying: [1, 2]))
        #expect(ConstantTime.equal([1, 2], [1, 2]))
        #expect(ConstantTime.equal([], []))
        #expect(!ConstantTime.equal([1, 2], [1, 3]))
        #expect(!ConstantTime.equal([1, 2], [1, 2, 3]))
    }

    @Test func `nothing prints the bytes`() {
        let secret = SecretBytes(copying: [77, 78, 79])
        var dumped = ""
        dump(secret, to: &dumped)
        for text in ["\(secret)", String(reflecting: secret), dumped, "\([secret])"] {
            #expect(text.contains("secret of 3 bytes"))
            #expect(!text.contains("77") && !text.contains("78"))
        }
    }

    @Test func `wiping empties the array`() {
        var bytes: [UInt8] = [1, 2, 3]
        let secret = SecretBytes(wiping: &bytes)
        #expect(bytes.isEmpty)
        #expect(secret.exposedCopy() == [1, 2, 3])
    }

    @Test func `random secrets differ`() throws {
        let secrets = try (0..<8).map { _ in try SecretBytes(random: 32).exposedCopy() }
        #expect(Set(secrets).count == 8)
        #expect(Set((0..<8).map { _ in Randomness.bytes(16) }).count == 8)
        #expect(Randomness.bytes(0).isEmpty)
        #expect(Randomness.bytes(5).count == 5)
    }

    @Test func `there is room for more secrets than the locked arena holds`() {
        let secrets = (0..<10_000).map { SecretBytes(copying: [UInt8](repeating: UInt8($0 & 0xff), count: 64)) }
        #expect(Randomness.bytes(32).count == 32, "OpenSSL itself still has room")
        #expect(throws: Never.self) { try SigningKey().sign([1]) }
        for (index, secret) in secrets.enumerated() {
            #expect(secret.withSpan { $0[63] } == UInt8(index & 0xff))
        }
    }
}
