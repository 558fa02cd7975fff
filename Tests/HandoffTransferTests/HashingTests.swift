import HandoffModel
import HandoffTransfer
import Testing

@Suite struct HashingTests {
    @Test(arguments: [1, 7, 63, 64, 65, 1000])
    func `digests are those of FIPS 180-4, in whatever pieces the bytes come`(size: Int) {
        let text = Array("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq".utf8)
        var hasher = SHA256Hasher()
        for start in stride(from: 0, to: text.count, by: size) { hasher.update(text[start...].prefix(size)) }
        #expect(hasher.digest().hex == "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1")
    }

    @Test
    func `a block of zeros adds nothing but its place`() {
        var expected = SHA256Hasher()
        func number(_ value: UInt64) -> [UInt8] { withUnsafeBytes(of: value.bigEndian) { Array($0) } }
        let block = [UInt8](repeating: 7, count: 4096)
        for part in [number(0), block, number(8192), [0, 0, 1], number(8195)] { expected.update(part) }
        #expect(BlockHasher.digest(of: block + [UInt8](repeating: 0, count: 4096) + [0, 0, 1]) == expected.digest())
        #expect(BlockHasher.digest(of: [0, 0]) != BlockHasher.digest(of: [0]))
    }

    @Test
    func `a digest can be taken on the way, and a copy goes on by itself`() {
        var hasher = SHA256Hasher()
        #expect(hasher.digest().hex == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
        hasher.update("ab".utf8)
        var copy = hasher
        copy.update("x".utf8)
        _ = hasher.digest()
        hasher.update("c".utf8)
        #expect(hasher.digest().hex == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        #expect(copy.digest() == SHA256Hasher.digest(of: "abx".utf8))
    }
}
