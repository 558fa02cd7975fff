import HandoffProtocol
import Testing

@Suite struct ByteCodingTests {
    @Test func `integers are big-endian and survive encoding and decoding`() throws {
        var writer = ByteWriter()
        writer.u8(0x01)
        writer.u16(0x0203)
        writer.u32(0x0405_0607)
        writer.u64(0x0809_0A0B_0C0D_0E0F)
        writer.text("é")
        #expect(writer.bytes == Array(1...15) + [0xC3, 0xA9])
        var reader = ByteReader(writer.bytes)
        #expect(try reader.u8() == 0x01)
        #expect(try reader.u16() == 0x0203)
        #expect(try reader.u32() == 0x0405_0607)
        #expect(try reader.u64() == 0x0809_0A0B_0C0D_0E0F)
        #expect(try reader.text(2) == "é")
        try reader.finish()
    }

    @Test(arguments: 0..<8) func `a short integer is an error and consumes nothing`(count: Int) {
        var reader = ByteReader([UInt8](repeating: 1, count: count))
        #expect(throws: ByteError.truncated) { try reader.u64() }
        #expect(reader.remaining == count)
    }

    @Test(arguments: [-1, 4, Int.max, Int.min]) func `invalid counts are errors`(count: Int) {
        var reader = ByteReader([1, 2, 3])
        #expect(throws: ByteError.truncated) { try reader.bytes(count) }
    }

    @Test(arguments: [[0xFF], [0xC3], [0xED, 0xA0, 0x80], [0xC0, 0x80]] as [[UInt8]])
    func `text that is not UTF-8 is an error`(bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        #expect(throws: ByteError.malformed) { try reader.text(bytes.count) }
    }

    @Test func `remaining bytes are errors`() throws {
        var reader = ByteReader([0, 0, 1])
        _ = try reader.u8()
        #expect(throws: ByteError.trailing) { try reader.finish() }
        #expect(throws: ByteError.malformed) { try reader.finishPadding() }
        _ = try reader.u16()
        try reader.finish()
    }

    @Test func `a slice is read from its own start`() throws {
        let bytes: [UInt8] = [9, 9, 1, 2, 9]
        var reader = ByteReader(bytes[2..<4])
        #expect(try reader.u16() == 0x0102)
        #expect(reader.consumed == 2)
        try reader.finish()
    }

    @Test func `padding extends and never truncates`() {
        var writer = ByteWriter()
        writer.raw([1, 2])
        writer.pad(to: 4)
        writer.pad(to: 1)
        #expect(writer.bytes == [1, 2, 0, 0])
    }
}
