import HandoffCrypto
import Testing

struct SecretBuilderTests {
    @Test func `pieces are joined into one secret`() {
        let builder = SecretBuilder()
        var expected: [UInt8] = []
        for count in [0, 1, 255, 256, 1, 1000, 70_000, 3] {
            let piece = (0..<count).map { UInt8(truncatingIfNeeded: $0 &+ count) }
            builder.append(piece.span)
            expected += piece
            #expect(builder.count == expected.count)
        }
        #expect(builder.take().exposedCopy() == expected)
        #expect(builder.count == 0)
        #expect(builder.take().count == 0)
    }

    @Test func `clear removes all bytes`() {
        let builder = SecretBuilder()
        builder.append(([1, 2, 3] as [UInt8]).span)
        builder.clear()
        builder.append(([4] as [UInt8]).span)
        #expect(builder.take().exposedCopy() == [4])
    }
}
