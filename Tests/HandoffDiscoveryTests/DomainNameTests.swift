import HandoffDiscovery
import Testing

struct DomainNameTests {
    @Test func `survives encoding and decoding`() throws {
        let name = try #require(DomainName("abc._handoff._tcp.local"))
        #expect(
            name.wire == [3] + Array("abc".utf8) + [8] + Array("_handoff".utf8) + [4] + Array("_tcp".utf8) + [5]
                + Array("local".utf8) + [0])
        #expect(DomainName(wire: name.wire[...]) == name)
    }

    @Test func `folds case`() throws {
        #expect(DomainName("ABC.Local")?.text == "abc.local")
        #expect(DomainName(wire: [1, 0x41, 0])?.text == "a")
    }

    @Test(arguments: [
        "", ".", "a..b", "a.", ".a", "a b", "a\\.b", "a\\032b", "ä.local", "a\0b", "a/b", "a:b",
        String(repeating: "a", count: 64),
        Array(repeating: String(repeating: "a", count: 63), count: 4).joined(separator: ".") + ".a",
    ])
    func `rejects invalid text`(_ text: String) {
        #expect(DomainName(text) == nil)
    }

    @Test(
        arguments: [
            [],  // empty
            [0],  // the root
            [1, 0x61],  // missing end
            [2, 0x61, 0],  // truncated
            [1, 0x61, 0, 0],  // bytes after the end
            [1, 0x61, 0, 1, 0x62, 0],
            [0xc0, 0x0c],  // compression
            [1, 0x61, 0xc0, 0x00],
            [0x40] + Array(repeating: 0x61, count: 64) + [0],  // a label of 64
            [1, 0x2e, 0],  // a dot in a label
            [1, 0x5c, 0],  // a backslash
            [2, 0xc3, 0x28, 0],  // not UTF-8
            [1, 0x00, 0],  // NUL in a label
        ] as [[UInt8]])
    func `rejects an invalid wire form`(_ wire: [UInt8]) {
        #expect(DomainName(wire: wire[...]) == nil)
    }

    @Test func `accepts the longest name and none longer`() {
        let label = String(repeating: "a", count: 63)
        let longest = [label, label, label, String(repeating: "b", count: 61)]
        #expect(DomainName(labels: longest)?.wire.count == 255)
        #expect(DomainName(labels: [label, label, label, String(repeating: "b", count: 62)]) == nil)
    }
}
