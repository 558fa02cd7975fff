import HandoffModel
import HandoffState
import Testing

@Suite struct PeersFileTests {
    @Test
    func `addresses are read in order, without duplicates; comments and empty lines stay`() throws {
        let text = "# at home\n10.0.0.1:24863\n\n  [fd00::1]:1  \r\n10.0.0.1:24863\n"
        let file = try PeersFile(decoding: Array(text.utf8))
        #expect(file.addresses.map(\.text) == ["10.0.0.1:24863", "[fd00::1]:1"])
        #expect(file.encoded() == Array(text.utf8))
    }

    @Test
    func `adding and removing change only their lines`() throws {
        let file = try PeersFile(decoding: Array("# at home\n10.0.0.1:24863\n".utf8))
        let other = try #require(StaticAddress("other.example:5"))
        let both = file.adding(other)
        #expect(both.encoded() == Array("# at home\n10.0.0.1:24863\nother.example:5\n".utf8))
        #expect(both.adding(other) == both)
        #expect(both.removing(other) == file)
        #expect(file.removing(try #require(StaticAddress("10.0.0.1:24863"))).addresses.isEmpty)
    }

    @Test(arguments: [
        ("10.0.0.1\n", 1), ("10.0.0.1:1\n10.0.0.1:0\n", 2), ("a:1\nb:1 # note\n", 2), ("a:1\n\u{0}\n", 2),
        ("a:1", 1), ("a:1\nb:", 2),
    ])
    func `a line that is not an address is rejected with its number`(_ text: String, _ line: Int) {
        let error = #expect(throws: PeersFile.BadLine.self) { try PeersFile(decoding: Array(text.utf8)) }
        #expect(error?.number == line)
    }

    @Test
    func `bytes that are not UTF-8 are rejected, and an empty file has no peers`() throws {
        let error = #expect(throws: PeersFile.BadLine.self) { try PeersFile(decoding: [0xFF, 0x0A]) }
        #expect(error?.number == 1)
        #expect(try PeersFile(decoding: []).addresses.isEmpty)
        #expect(PeersFile().encoded() == [])
    }
}
