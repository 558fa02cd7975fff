import HandoffStreams
import Testing

struct StreamWordTests {
    @Test(arguments: [
        (UInt32(0), StreamWord.end), (1, .data(1)), (0x0010_0000, .data(1 << 20)), (0xFFFF_FF01, .reset(.cancelled)),
        (0xFFFF_FF00, .reset(.unknown)), (0xFFFF_FF06, .reset(.failed)),
    ])
    func `words have one meaning`(word: UInt32, meaning: StreamWord) {
        #expect(StreamWord(word) == meaning)
        #expect(meaning.word == word)
    }

    @Test(arguments: [0xFFFF_FF07, 0xFFFF_FFC8, 0xFFFF_FFFF] as [UInt32])
    func `an unknown code is a reset for an unknown reason`(word: UInt32) {
        #expect(StreamWord(word) == .reset(.unknown))
    }

    @Test(arguments: [0x0010_0001, 0x7FFF_FFFF, 0xFFFF_FEFF] as [UInt32])
    func `every other word is invalid`(word: UInt32) {
        #expect(StreamWord(word) == nil)
    }
}
