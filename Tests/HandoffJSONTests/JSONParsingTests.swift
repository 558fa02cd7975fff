import HandoffJSON
import Testing

/// Parses a text with generous default limits, which a test can reduce.
private func parse(_ text: String, limits: JSONLimits = JSONLimits(bytes: 1 << 20)) throws(JSONError) -> JSON {
    try JSON(parsing: Array(text.utf8), limits: limits)
}

struct JSONParsingTests {
    @Test(arguments: [
        ("null", JSON.null),
        ("true", .bool(true)),
        ("false", .bool(false)),
        ("0", .integer(0)),
        ("-0", .integer(0)),
        ("9223372036854775807", .integer(.max)),
        ("-9223372036854775808", .integer(.min)),
        ("1.0", .real(1)),
        ("-0.0", .real(-0.0)),
        ("1e2", .real(100)),
        ("1E+2", .real(100)),
        ("1e308", .real(1e308)),
        ("5e-324", .real(.leastNonzeroMagnitude)),
        ("1e-400", .real(0)),
        (#""""#, .string("")),
        (#""\u0041\n\"\\\/\b\f\r\t""#, .string("A\n\"\\/\u{8}\u{C}\r\t")),
        (#""\ud83d\ude00""#, .string("😀")),
        (#""a\u0000b""#, .string("a\0b")),
        (" [ 1 , 2.0 ] ", .array([.integer(1), .real(2)])),
        ("{}", .object([:])),
        (#"{"":1,"$a":[]}"#, .object(["": 1, "$a": []])),
    ])
    func `a value of each kind is parsed`(text: String, value: JSON) throws {
        #expect(try parse(text) == value)
    }

    @Test(arguments: [
        "", " ", "{", "[", "[1", "[1,", "[1,]", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{a:1}", "'a'", "01", "+1", "1.",
        ".5", "1e", "nan", "NaN", "Infinity", "tru", "nulll", "[]]", "}", "{}{}", "1 2", "\"", "\"\\\"", "\"\\x\"",
        "\"\\u12\"", "\"\\ud800\"", "\"\\ude00\\ud83d\"", "\"a\nb\"", "\u{FEFF}{}", "/*c*/1", "\u{A0}1",
    ])
    func `malformed JSON is rejected`(text: String) {
        #expect(throws: JSONError.self) { try parse(text) }
    }

    @Test(arguments: [
        (#""\ud83d""#, #""\uFFFD""#),
        (#""\ude00a""#, #""\uFFFDa""#),
        (#""\ud83d\ud83d\ude00""#, #""\uFFFD\ud83d\ude00""#),
        (#""\ude00\ud83d""#, #""\uFFFD\uFFFD""#),
        (#""\\ud83d""#, #""\\ud83d""#),
        (#""\\\ud83d""#, #""\\\uFFFD""#),
        (#""\ud83d\"#, #""\uFFFD\"#),
        (#""\u+83d \u0041\n\ud8""#, #""\u+83d \u0041\n\ud8""#),
    ])
    func `escapes of unpaired surrogates are replaced and others kept`(text: String, expected: String) {
        #expect(
            String(decoding: JSON.replacingUnpairedSurrogates(in: Array(text.utf8)[...]), as: UTF8.self) == expected)
    }

    @Test(arguments: [
        (#"{"a":1,"a":1}"#, "duplicate key"),
        (#"{"a":{"b":1,"\u0062":2}}"#, "duplicate key"),
        (#"{"a\u0000b":1}"#, "NUL in a key"),
        ("9223372036854775808", "number out of range"),
        ("-9223372036854775809", "number out of range"),
        ("1e309", "number out of range"),
        (#"["\ud83d"]"#, "half of a surrogate pair in a string"),
        (#"["\ud83d\u0041"]"#, "half of a surrogate pair in a string"),
        (#"["\ude00"]"#, "half of a surrogate pair in a string"),
        (#"["\u12"]"#, "invalid syntax"),
        ("[1", "unexpected end"),
        ("{} 1", "bytes after the end"),
    ])
    func `the message names the error`(text: String, message: String) {
        let error = #expect(throws: JSONError.self) { try parse(text) }
        guard case .syntax(message, _) = error else {
            Issue.record("\(String(describing: error)) is not '\(message)'")
            return
        }
    }

    @Test func `an error never quotes the text`() throws {
        let error = try #require(throws: JSONError.self) { try parse(#"{"password": secret}"#) }
        #expect(!error.description.contains("secret"))
        #expect(!error.description.contains("password"))
    }

    @Test(
        arguments: [
            [0x22, 0xFF, 0x22],
            [0x22, 0xC0, 0x80, 0x22],
            [0x22, 0xED, 0xA0, 0x80, 0x22],
            [0x22, 0xF4, 0x90, 0x80, 0x80, 0x22],
            [0x22, 0xE2, 0x82, 0x22],
            [0x7B, 0x22, 0xFF, 0x22, 0x3A, 0x31, 0x7D],
            [0x22, 0x00, 0x22],
            [0x31, 0x00],
            [0x00],
        ] as [[UInt8]])
    func `invalid UTF-8 and raw NUL are rejected`(bytes: [UInt8]) {
        #expect(throws: JSONError.self) { try JSON(parsing: bytes, limits: JSONLimits(bytes: 100)) }
    }

    @Test func `a slice is parsed in place`() throws {
        let bytes = Array("xx[1]yy".utf8)
        #expect(try JSON(parsing: bytes[2..<5], limits: JSONLimits(bytes: 3)) == [1])
    }

    @Test func `keys that differ only in composition both survive`() throws {
        let object = try #require(try parse("{\"e\u{301}\":1,\"\u{E9}\":2}").object)
        #expect(object.count == 2)
        #expect(object["e\u{301}"] == 1)
        #expect(object["\u{E9}"] == 2)
    }

    @Test func `members keep their order`() throws {
        let names = (0..<100).map { "k\(($0 * 37) % 100)" }
        let text = "{" + names.map { "\"\($0)\":0" }.joined(separator: ",") + "}"
        #expect(try parse(text).object?.keys == names)
    }
}

struct JSONLimitTests {
    private static func nested(_ count: Int, _ open: String, _ close: String) -> String {
        String(repeating: open, count: count) + "1" + String(repeating: close, count: count)
    }

    @Test(arguments: [("[", "]"), ("{\"a\":", "}")])
    func `nesting up to the depth limit is accepted`(open: String, close: String) throws {
        let limits = JSONLimits(bytes: 10_000, depth: 32)
        #expect(throws: Never.self) { try parse(Self.nested(32, open, close), limits: limits) }
        #expect(throws: JSONError.tooDeep) { try parse(Self.nested(33, open, close), limits: limits) }
    }

    @Test func `brackets inside strings do not count`() throws {
        let text = "[\"" + String(repeating: "[{", count: 1000) + "\\\"[\\\\\"]"
        #expect(throws: Never.self) { try parse(text, limits: JSONLimits(bytes: 10_000, depth: 1)) }
    }

    @Test func `an escaped quote does not end a string`() {
        // The last quote ends the string. The brackets after it are nested too deeply.
        let text = "[\"\\\\\\\"\", [[1]]]"
        #expect(throws: JSONError.tooDeep) { try parse(text, limits: JSONLimits(bytes: 100, depth: 2)) }
    }

    @Test func `members up to the limit are accepted`() {
        let limits = JSONLimits(bytes: 1 << 20, members: 10)
        let ten = "[" + Array(repeating: "0", count: 10).joined(separator: ",") + "]"
        let eleven = "[" + Array(repeating: "0", count: 11).joined(separator: ",") + "]"
        #expect(throws: Never.self) { try parse("[\(ten),\(ten)]", limits: limits) }
        #expect(throws: JSONError.tooManyMembers) { try parse("[\(ten),\(eleven)]", limits: limits) }
    }

    @Test func `values up to the limit are accepted`() {
        let limits = JSONLimits(bytes: 1 << 20, values: 8)
        #expect(throws: Never.self) { try parse("[[1,2],[3,4]]", limits: limits) }
        #expect(throws: JSONError.tooManyValues) { try parse("[[1,2],[3,4],[[],[]]]", limits: limits) }
    }

    @Test func `bytes up to the limit are accepted`() {
        #expect(throws: Never.self) { try parse("[1]", limits: JSONLimits(bytes: 3)) }
        #expect(throws: JSONError.tooLarge) { try parse("[1]", limits: JSONLimits(bytes: 2)) }
    }

    @Test(arguments: ["[", "{\"a\":", "[{\"a\":"])
    func `a megabyte of opening brackets does not overflow the stack`(opening: String) {
        let text = String(repeating: opening, count: (1 << 20) / opening.utf8.count)
        #expect(throws: JSONError.tooDeep) { try parse(text) }
    }

    @Test func `a megabyte of empty containers is rejected before it is built`() {
        let inner = "[" + Array(repeating: "{}", count: 4000).joined(separator: ",") + "]"
        let text = "[" + Array(repeating: inner, count: 80).joined(separator: ",") + "]"
        #expect(throws: JSONError.tooManyValues) { try parse(text) }
    }

    @Test(arguments: ["\"", "\\\"", "\\\\", "\\"])
    func `quotes and backslashes take linear time`(piece: String) {
        // Quadratic work on a megabyte would exceed the time limit of the suite.
        let text = "\"" + String(repeating: piece, count: (1 << 20) / piece.utf8.count - 1)
        #expect(throws: JSONError.self) { try parse(text) }
    }
}
