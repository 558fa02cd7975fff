import HandoffCrypto
import Testing

@Suite struct P256Tests {
    /// FIPS 186-4 D.1.2.3.
    private static let order = "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551"
    private static let generator =
        "046b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296"
        + "4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5"

    private func scalar(_ text: String) throws -> P256Scalar? {
        try P256Scalar(reducing: SecretBytes(copying: hex(text)))
    }

    @Test func `a number is reduced by the order`() throws {
        #expect(try scalar(Self.order) == nil)
        #expect(try scalar("00") == nil)
        #expect(try scalar(Self.order + String(repeating: "00", count: 16)) == nil)
        let below = Self.order.dropLast() + "0"
        #expect(try scalar(String(below))?.bytes.exposedCopy() == hex(String(below)))
        let above = Self.order.dropLast() + "2"
        #expect(try scalar(String(above))?.bytes.exposedCopy() == [UInt8](repeating: 0, count: 31) + [1])
        // 2^256 modulo the order.
        let wide = "01" + String(repeating: "00", count: 32)
        #expect(
            try scalar(wide)?.bytes.exposedCopy()
                == hex("00000000ffffffff00000000000000004319055258e8617b0c46353d039cdaaf"))
    }

    @Test func `random numbers differ`() throws {
        let numbers = try Set((0..<50).map { _ in try P256Scalar().bytes.exposedCopy() })
        #expect(numbers.count == 50)
        #expect(numbers.allSatisfy { $0.count == P256Scalar.byteCount })
    }

    @Test func `one times the generator is the generator`() throws {
        let one = try #require(try scalar("01"))
        #expect(try P256Point(generatorTimes: one).uncompressed == hex(Self.generator))
        let point = try #require(P256Point(uncompressed: hex(Self.generator)))
        #expect(try point.times(one).uncompressed == hex(Self.generator))
        #expect(point.secretUncompressed.exposedCopy() == hex(Self.generator))
    }

    @Test func `sums and products agree`() throws {
        let two = try #require(try scalar("02"))
        let three = try #require(try scalar("03"))
        let point = try #require(P256Point(uncompressed: hex(Self.generator)))
        let sum = try point.plus(point.times(two))
        #expect(try sum.uncompressed == point.times(three).uncompressed)
        #expect(try sum.minus(point).uncompressed == P256Point(generatorTimes: two).uncompressed)
        #expect(try point.plus(point).uncompressed == point.times(two).uncompressed)
    }

    @Test func `infinity is an error`() throws {
        let point = try #require(P256Point(uncompressed: hex(Self.generator)))
        #expect(throws: CryptoError.self) { try point.minus(point) }
        let last = try #require(try scalar(String(Self.order.dropLast() + "0")))
        #expect(throws: CryptoError.self) { try point.plus(point.times(last)) }
    }

    @Test
    func `only uncompressed points on the curve are points`() {
        let good = hex(Self.generator)
        #expect(P256Point(uncompressed: good) != nil)
        var off = good
        off[64] ^= 1
        let compressed = [2 | good[64] & 1] + good[1...32]
        let hybrid = [6 | good[64] & 1] + good[1...]
        let zeros = [UInt8](repeating: 0, count: 65)
        // The field's prime, which is another form of 0. 0 is the x of a point.
        let prime = hex("ffffffff00000001000000000000000000000000ffffffffffffffffffffffff")
        let unreduced = [4] + prime + hex("66485c780e2f83d72433bd5d84a06bb6541c2af31dae871728bf856a174f93f4")
        let bad: [[UInt8]] = [
            [], [0], off, Array(compressed), Array(hybrid), zeros, [4] + Array(zeros.dropLast()), unreduced, good + [0],
        ]
        for bytes in bad {
            #expect(P256Point(uncompressed: bytes) == nil)
        }
        // The same point with 0 itself is accepted, so the form was the reason for the rejection.
        #expect(P256Point(uncompressed: [4] + zeros.prefix(32) + unreduced.suffix(32)) != nil)
    }

    @Test func `scalars do not print their value`() throws {
        var dumped = ""
        dump(try #require(try scalar("7b")), to: &dumped)
        #expect(!dumped.contains("7b") && !dumped.contains("123"))
    }
}
