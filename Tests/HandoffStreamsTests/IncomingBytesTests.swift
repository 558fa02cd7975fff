import HandoffTestSupport
import Testing

@testable import HandoffStreams

/// Frames in any pieces, compared with a model that receives them complete.
struct IncomingBytesTests {
    /// The frames to send, and the expected result.
    private struct Story {
        var wire: [UInt8] = []
        var data: [UInt8] = []
        var hasEnded = false
        var reset: StreamReset?
        var isWhole = true

        init(_ random: inout some RandomNumberGenerator) {
            for _ in 0..<Int.random(in: 0...12, using: &random) {
                let size =
                    switch Int.random(in: 0..<10, using: &random) {
                    case 0: 1
                    case 1: 16 * 1024
                    case 2: 16 * 1024 + 1
                    case 3: Int.random(in: 1...20_000, using: &random)
                    default: Int.random(in: 1...300, using: &random)
                    }
                let bytes = pattern(size, from: Int.random(in: 0..<1000, using: &random))
                wire += FarSide.frame(.data(size), bytes)
                data += bytes
            }
            switch Int.random(in: 0..<8, using: &random) {
            case 0: end()
            case 1: reset(&random)
            case 2:
                end()
                reset(&random)
            case 3:
                spoil([2_000_000, 0xFFFF_FEFF, 0x8000_0000, 0x0010_0001].randomElement(using: &random) ?? .max)
            case 4:
                end()
                spoil([0, 1, 1 << 20].randomElement(using: &random) ?? 0)
            default: break
            }
        }

        private mutating func end() {
            wire += FarSide.frame(.end)
            hasEnded = true
        }

        private mutating func reset(_ random: inout some RandomNumberGenerator) {
            let code = StreamReset.allCases.randomElement(using: &random) ?? .idle
            wire += FarSide.frame(.reset(code)) + [1, 2, 3, 4, 5]
            reset = code
        }

        private mutating func spoil(_ word: UInt32) {
            wire += FarSide.bytes(word) + [1, 2, 3]
            isWhole = false
        }
    }

    @Test(arguments: 0..<120) func `frames arrive as they were sent`(seed: Int) {
        var random = Sequence64(state: UInt64(seed) &* 0x9E37_79B9_7F4A_7C15 | 1)
        let story = Story(&random)
        var incoming = IncomingBytes()
        var got: [UInt8] = []
        var isWhole = true
        let cut = [1, 30, 100, 5000, 70_000, 1 << 20].randomElement(using: &random) ?? 1
        var rest = story.wire[...]
        while !rest.isEmpty, isWhole, incoming.reset == nil {
            // Byte by byte only where that is fast.
            let limit = story.wire.count > 5000 ? max(cut, 100) : cut
            var piece = Array(rest.prefix(Int.random(in: 1...limit, using: &random)))
            rest = rest.dropFirst(piece.count)
            piece.withUnsafeMutableBytes { bytes in
                let outcome = incoming.parse(bytes)
                isWhole = outcome.isWhole
                var end = 0
                for range in outcome.data {
                    #expect(!range.isEmpty && range.lowerBound >= end)
                    end = range.upperBound
                    got += bytes[range]
                }
            }
        }
        #expect(got == story.data)
        #expect(incoming.count == UInt64(story.data.count))
        #expect(incoming.hasEnded == story.hasEnded)
        #expect(incoming.reset == story.reset)
        #expect(isWhole == story.isWhole)
    }

    @Test func `the data of small frames is one piece`() {
        var wire: [UInt8] = []
        for index in 0..<100 { wire += FarSide.frame(.data(10), pattern(10, from: index * 10)) }
        var incoming = IncomingBytes()
        wire.withUnsafeMutableBytes { bytes in
            let data = incoming.parse(bytes).data
            #expect(data.count == 1)
            #expect(data.first.map { Array(bytes[$0]) } == pattern(1000))
        }
    }

    @Test func `large frames stay in place`() {
        var wire: [UInt8] = []
        for _ in 0..<3 { wire += FarSide.frame(.data(100_000), pattern(100_000)) }
        var incoming = IncomingBytes()
        wire.withUnsafeMutableBytes { bytes in
            let data = incoming.parse(bytes).data
            #expect(data == (0..<3).map { $0 * 100_004 + 4..<($0 + 1) * 100_004 })
        }
    }

    @Test func `buffered bytes are returned in order, followed by the end`() {
        var incoming = IncomingBytes()
        var end = FarSide.frame(.end)
        end.withUnsafeMutableBytes { _ = incoming.parse($0) }
        pattern(100).withUnsafeBytes { incoming.wait($0) }
        pattern(100, from: 100).withUnsafeBytes { incoming.wait($0) }
        var isEnd = incoming.takeEnd()
        #expect(!isEnd)
        var (bytes, start) = incoming.takeWaiting()
        #expect(Array(bytes[start...]) == pattern(200))
        incoming.putBack(bytes, from: 150)
        #expect(incoming.isWaiting)
        incoming.releaseMemory()
        (bytes, start) = incoming.takeWaiting()
        #expect(Array(bytes[start...]) == pattern(50, from: 150))
        incoming.putBack(bytes, from: 200)
        #expect(!incoming.isWaiting)
        isEnd = incoming.takeEnd()
        #expect(isEnd)
        isEnd = incoming.takeEnd()
        #expect(!isEnd)
        pattern(3).withUnsafeBytes { incoming.wait($0) }
        (bytes, start) = incoming.takeWaiting()
        #expect(Array(bytes[start...]) == pattern(3))
    }
}

/// Random numbers, reproducible by seed (SplitMix64).
private struct Sequence64: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
        return value ^ value >> 31
    }
}
