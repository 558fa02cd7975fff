import HandoffJSON
import Testing

/// The parser copies a string without escapes as a whole, and others in pieces.
struct JSONLongStringTests {
    private static let long = String(repeating: "long é ", count: 40)

    private func parse(_ text: String) throws(JSONError) -> JSON {
        try JSON(parsing: Array(text.utf8), limits: JSONLimits(bytes: 1 << 20))
    }

    @Test func `long and short strings keep their positions`() throws {
        let value: JSON = [
            "short", .string(Self.long), .object([Self.long: "a", "b": .string(Self.long + "2")]), "",
            .string(Self.long + "\n\"escaped\""), .array([.string(Self.long + "3"), "x"]), .string(Self.long + "4"),
            nil,
        ]
        #expect(try JSON(parsing: value.encoded(), limits: JSONLimits(bytes: 1 << 20)) == value)
    }

    @Test(arguments: 0...40)
    func `strings of every length survive encoding and parsing`(count: Int) throws {
        for text in [String(repeating: "a", count: count), String(repeating: "é", count: count)] {
            let value: JSON = .array([.string(text), .object(["k": .string(text + "!")]), .string(text)])
            #expect(try JSON(parsing: value.encoded(), limits: JSONLimits(bytes: 1000)) == value)
        }
    }

    @Test(arguments: [" ", "\n\t\r ", ""])
    func `a long key is recognized with any whitespace before its colon`(space: String) throws {
        let text = "{\"\(Self.long)\"\(space):\(space)\"\(Self.long)\",\"\(Self.long)\"\(space):1}"
        #expect(throws: JSONError.self) { try parse(text) }
        let single = "{\"\(Self.long)\"\(space):\(space)\"\(Self.long)\"}"
        #expect(try parse(single) == .object([Self.long: .string(Self.long)]))
    }

    @Test(arguments: [
        "[\"\(Self.long)\"", "[\"\(Self.long)", "{\"\(Self.long)\"}", "[\"\(Self.long)\" \"\(Self.long)\"]",
        "\"\(Self.long)\":1", "[\"\(Self.long)\u{1}\"]", "[\"\(Self.long)\n\"]", "[\"\(Self.long)\\x\"]",
    ])
    func `long strings do not hide errors`(text: String) {
        #expect(throws: JSONError.self) { try parse(text) }
    }

    @Test func `a long string of invalid UTF-8 is rejected`() {
        for bad in [[0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80]] as [[UInt8]] {
            let bytes = Array("[\"\(Self.long)".utf8) + bad + Array("\"]".utf8)
            #expect(throws: JSONError.self) { try JSON(parsing: bytes, limits: JSONLimits(bytes: 1000)) }
        }
    }

    @Test func `the position of an error includes the long strings`() throws {
        let text = "[\"\(Self.long)\",\"\(Self.long)\",?]"
        let error = try #require(throws: JSONError.self) { try parse(text) }
        guard case .syntax(_, let position) = error else {
            Issue.record("\(error)")
            return
        }
        #expect((text.utf8.count - 3...text.utf8.count).contains(position))
    }
}
