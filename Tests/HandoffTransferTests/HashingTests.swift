import HandoffModel
import HandoffTestSupport
import HandoffTransfer
import LoopIO
import Testing

@Suite struct HashingTests {
    @Test(arguments: [1, 7, 63, 64, 65, 1000])
    func `digests match FIPS 180-4, whatever the pieces`(size: Int) {
        let text = Array("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq".utf8)
        var hasher = SHA256Hasher()
        for start in stride(from: 0, to: text.count, by: size) { hasher.update(text[start...].prefix(size)) }
        #expect(hasher.digest().hex == "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1")
    }

    @Test
    func `a block of zeros adds only its offset`() {
        var expected = SHA256Hasher()
        func number(_ value: UInt64) -> [UInt8] { withUnsafeBytes(of: value.bigEndian) { Array($0) } }
        let block = [UInt8](repeating: 7, count: 4096)
        for part in [number(0), block, number(8192), [0, 0, 1], number(8195)] { expected.update(part) }
        #expect(BlockHasher.digest(of: block + [UInt8](repeating: 0, count: 4096) + [0, 0, 1]) == expected.digest())
        #expect(BlockHasher.digest(of: [0, 0]) != BlockHasher.digest(of: [0]))
    }

    @Test
    func `an intermediate digest can be computed, and a copy is independent`() {
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

    @Test
    func `the existing beginning of a file is hashed`() throws {
        let folder = try TestFolder()
        var random = SeededRandom(state: 1)
        let content = random.bytes(700_000)
        let source = try SourceFile(try folder.write(content, to: "a"))
        let test = try LoopTest()
        let hasher = try source.makeHasher()
        var seen: [Result<ContentDigest, TransferFailure>] = []
        for length in [1, 300_000, 700_000, 700_001] as [Int64] {
            hasher.digest(length, on: test.loop) { result in
                seen.append(result)
                if seen.count == 4 { test.end() }
            }
        }
        try test.run()
        for (result, length) in zip(seen, [1, 300_000, 700_000]) {
            #expect(try result.get() == BlockHasher.digest(of: content.prefix(length)))
        }
        guard case .failure(let shorter) = seen[3] else {
            Issue.record("it reads beyond the end")
            return
        }
        #expect(shorter.reason == .changed)
    }

    @Test(.timeLimit(.minutes(1)))
    func `a hole of 1 TiB costs nothing to compare, and equals zeros`() throws {
        let folder = try TestFolder()
        let test = try LoopTest()
        _ = shell(
            """
            cd '\(folder.path)' && for name in huge other; do
                truncate -s 1T $name
                printf begin | dd of=$name conv=notrunc status=none
                printf end | dd of=$name bs=1 seek=1099511627773 conv=notrunc status=none
            done
            dd if=/dev/zero of=other bs=1M count=3 seek=7000 conv=notrunc status=none
            """)
        var seen: [ContentDigest?] = []
        let hashers = try ["huge", "other"].map { try SourceFile(folder.file($0)).makeHasher() }
        for hasher in hashers {
            hasher.digest(1 << 40, on: test.loop) { result in
                seen.append(try? result.get())
                if seen.count == 2 { test.end() }
            }
        }
        try test.run()
        #expect(seen.count == 2 && seen[0] != nil && seen[0] == seen[1])
    }

    @Test
    func `repeated comparisons are limited by the bytes received`() throws {
        let destination = try Destination(output: "-")
        // A part left by an earlier program is compared once, whatever its size.
        try destination.compare(1 << 50)
        destination.endComparison()
        try destination.compare(1 << 30)
        #expect(failure { () throws(TransferFailure) in try destination.compare(1) }?.reason == .failed)
        destination.arrived(1 << 20)
        try destination.compare((16 << 20) - 1)
        #expect(failure { () throws(TransferFailure) in try destination.compare(1) }?.reason == .failed)
        destination.arrived(.max)
        try destination.compare(1 << 62)
    }

    @Test
    func `a cancelled hash fails soon`() throws {
        let folder = try TestFolder()
        _ = shell("truncate -s 1T '\(folder.file("huge"))'")
        let source = try SourceFile(folder.file("huge"))
        let test = try LoopTest()
        let hasher = try source.makeHasher()
        var seen: TransferFailure?
        hasher.cancel()
        hasher.digest(1 << 40, on: test.loop) { result in
            if case .failure(let failure) = result { seen = failure }
            test.end()
        }
        try test.run()
        #expect(seen?.reason == .cancelled)
    }
}
