import Glibc
import LoopIO
import Testing

/// Text that represents bytes of the system.
struct SystemTextTests {
    @Test(
        arguments: [
            [], Array("plain".utf8), Array("Grüße 世界 👩‍👩‍👧".utf8), [0x63, 0x61, 0x66, 0xE9], [0xE9], [0xFF, 0xFE, 0x80],
            // Truncated, surrogates, an overlong form, and a scalar of the range that represents
            // bytes.
            [0xE4, 0xB8], [0xED, 0xA0, 0x80], [0xC0, 0xAF], Array("a\u{10FEE9}b".utf8),
            [0xE9] + Array("\u{10FEE9}".utf8),
            [0xF4, 0x8F, 0xBA], [0xCC, 0x81], Array("/\u{301}".utf8),
        ] as [[UInt8]])
    func `every sequence of bytes survives a round trip`(bytes: [UInt8]) {
        #expect(String(systemBytes: bytes).systemBytes == bytes)
    }

    @Test func `different bytes have different texts`() {
        let raw = String(systemBytes: [0xE9])
        let scalar = String(systemBytes: Array("\u{10FEE9}".utf8))
        #expect(raw != scalar)
        #expect(raw == "\u{10FEE9}")
        #expect(Array(raw.utf8) != Array(scalar.utf8))
    }

    @Test func `two bytes in any order survive a round trip`() {
        let pairs = (UInt16.min...UInt16.max).map { [0x41, UInt8($0 >> 8), UInt8($0 & 0xFF), 0x42] }
        let changed = pairs.filter { String(systemBytes: $0).systemBytes != $0 }
        #expect(changed.isEmpty)
    }

    @Test func `people and other devices see UTF-8, and a mark for other bytes`() {
        #expect(String(systemBytes: [0x63, 0x61, 0x66, 0xE9]).systemTextRepaired == "caf\u{FFFD}")
        #expect("Grüße".systemTextRepaired == "Grüße")
    }

    @Test func `a file with a Latin-1 name is found`() throws {
        var template = Array("/tmp/handoff-text-XXXXXX".utf8CString)
        let folder = try #require(mkdtemp(&template).map { String(cString: $0) })
        let path = folder + "/" + String(systemBytes: [0x63, 0x61, 0x66, 0xE9])
        defer {
            unlink(path.systemPath)
            rmdir(folder)
        }
        let file = try NewFile(path: path)
        try file.finish(writing: [1, 2, 3])
        #expect(
            access(Array(folder.utf8CString.dropLast()) + [0x2F, 0x63, 0x61, 0x66, CChar(bitPattern: 0xE9), 0], F_OK)
                == 0)
        #expect(try LocalFile.read(path, limit: 10).bytes == [1, 2, 3])
        #expect(PlainFile.version(at: path) != nil)
    }
}
