import ExampleSupport
import Testing

@Suite struct KeyboardTests {
    private func events(_ pieces: [[UInt8]], keys: [String: String] = ["up": "pan n", "+": "zoom in"]) -> [String] {
        var keyboard = Keyboard(keys: keys)
        return pieces.flatMap { keyboard.received($0) }.compactMap { event in
            switch event {
            case .command(let command): ([command.word] + command.arguments).joined(separator: " ")
            case .typed: nil
            case .quit: "QUIT"
            }
        }
    }

    @Test func `keys and lines become commands`() {
        #expect(events([Array("open 3\r".utf8)]) == ["open 3"])
        #expect(events([Array("\u{1B}[A\u{1B}OA+".utf8)]) == ["pan n", "pan n", "zoom in"])
        // Within a line, a key is a character.
        #expect(events([Array("a+b\r".utf8)]) == ["a+b"])
        #expect(events([[0x03], [0x04]]) == ["QUIT", "QUIT"])
        #expect(events([[0x0D, 0x0A, 0x20, 0x0D]]) == [])
    }

    @Test func `pieces may be cut anywhere`() {
        let bytes = Array("title Grüße\u{7F}e\r\u{1B}[1;5A\u{1B}[A+\r".utf8)
        let whole = events([bytes])
        #expect(whole == ["title Grüße", "pan n", "pan n", "zoom in"])
        #expect(events(bytes.map { [$0] }) == whole)
    }

    @Test func `backspace takes whole characters and escape the line`() {
        #expect(events([Array("ü\u{7F}\u{7F}\u{7F}ab\u{08}c\r".utf8)]) == ["ac"])
        #expect(events([Array("nonsense\u{1B}xyz\u{15}quit\r".utf8)]) == ["quit"])
    }

    @Test func `unlimited input takes limited memory`() {
        var keyboard = Keyboard(keys: [:])
        _ = keyboard.received(Array(repeating: UInt8(ascii: "a"), count: 100_000))
        #expect(keyboard.line.count == 1_000)
        _ = keyboard.received([0x1B, UInt8(ascii: "[")] + Array(repeating: UInt8(ascii: "0"), count: 100_000))
        #expect(keyboard.received(Array("\u{15}x\r".utf8)).last == Command("x").map { .command($0) })
    }

    @Test func `a command is words and numbers`() throws {
        let command = try #require(Command("  GO 48.5  x  7 nan "))
        #expect(command.word == "go" && command.arguments == ["48.5", "x", "7", "nan"])
        #expect(command.decimal(0) == 48.5 && command.decimal(1) == nil && command.decimal(3) == nil)
        #expect(command.number(2) == 7 && command.number(0) == nil && command.number(9) == nil)
        #expect(command.text == "48.5 x 7 nan")
        #expect(Command(" \t ") == nil)
    }

    @Test func `text from another device cannot control the terminal`() {
        #expect("a\u{1B}[2Jb\r\n\u{202E}c\u{9B}d".printable == "a\u{FFFD}[2Jb\u{FFFD}\u{FFFD}\u{FFFD}c\u{FFFD}d")
        #expect("Grüße 世界 👩‍👧".printable == "Grüße 世界 👩‍👧")
    }
}
