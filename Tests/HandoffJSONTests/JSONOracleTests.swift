import HandoffJSON
import Testing

/// Compares the parser with Jansson.
struct JSONOracleTests {
    private static let limits = JSONLimits(bytes: 1 << 20)

    /// Parses a text with both. Also parses it as a member, so that another byte follows it.
    private static func parse(_ text: String, limits: JSONLimits = limits) -> [(own: JSON?, byJansson: JSON?)] {
        [text, "{\"k\":\(text)}"].map { text in
            let bytes = Array(text.utf8)
            return (try? JSON(parsing: bytes, limits: limits), JanssonOracle.parse(bytes, limits: limits))
        }
    }

    @Test(arguments: [
        "{}", "[]", " { } ", "[ ]", "{\"a\":1}", "{ \"a\" : 1 , \"b\" : [ true , false , null ] }", "\"\"",
        "\"é\u{1F600}\"",
        "\"e\u{301}\"", "\"\u{7F}\"", "0", "-1", "999999999999999999", "-999999999999999999", "1000000000000000000",
        "9223372036854775807", "-9223372036854775808", "-0", "1.5", "-0.0", "1e3", "0.1", "-63.0", "0.3",
        "12345678901234.5", "123456789012345.6", "0.00000000000001", "0.000000000000001", "9007199254740993.0", "1.5e3",
        "0.123456789012345", "99999999.9999999", "3.14159265358979323846", "\"a\\nb\"", "\"\\u0041\"",
        "\"\\\"\"", "1E5", "1e+5", "1e-5", "-1.25E-3", "1e-400", "-1e-400", "4.9e-324", "2.4e-324", "0e999999999999",
        "1.7976931348623157e308", "0.1e1", "1e0", "0e0", "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\u0000\"", "\"\\uFFFF\"",
        "\"\\ud83d\\ude00\"", "\"\\uD83D\\uDE00x\"", "\"\\u00e9\\u20AC\"", "\"a\\u0000b\"", "{\"\\u006b\":1}",
        "{\"\":{\"\":0}}", "{\"e\u{301}\":1,\"\u{E9}\":2}", "[[[[[[]]]]]]", "\t[\r\n1\t]\r",
    ])
    func `a value is parsed as jansson parses it`(value: String) throws {
        for (own, byJansson) in Self.parse(value) { #expect(try #require(own) == #require(byJansson)) }
    }

    @Test(arguments: [
        "", "01", "-", "-01", "00", "1 2", "9223372036854775808", "tru", "truee", "nulll", "True", "\"a", "\"\u{1}\"",
        "\"a\nb\"",
        "[1,]", "[,1]", "[1", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{\"a\":1,\"a\":1}", "{a:1}", "{1:1}", "]", "1}",
        "1,2",
        "\"\\x\"", "1.", ".5", "-.5", "1.e3", "1.5.5", "00.5", "01.5",
        "-00.5", "1.-5", "+1", "\u{A0}1", "[1]]", "{} {}", "1e", "1e+", "1e5.0", "1e309", "-1e309", "--1", "1e--1",
        "\"\\ud83d\"", "\"\\ude00\"", "\"\\ud83d\\u0041\"", "\"\\ud83d\\n\"", "\"\\ud83dx\"", "\"\\u12\"",
        "\"\\u+123\"",
        "\"\\u 123\"", "\"\\u12g4\"", "\"\\", "\"\\u", "\"\\u1234", "\"\\ud83d\\", "\"\\ud83d\\u12\"", "\"\\\n\"",
        "\"\\n\u{1}\"",
        "{\"\\u0000\":1}", "{\"\\u0061\":1,\"a\":2}", "{\"a\":1 \"b\":2}", "{\"a\",1}", "{,}", "[1}", "{\"a\":1]",
        "\u{FEFF}1",
        "nul", "falsefalse", "t", "'a'", "[1,,2]", "[1 2]", "/**/1", "NaN", "Infinity", "-Infinity",
    ])
    func `a malformed value is rejected by both parsers`(value: String) {
        for (own, byJansson) in Self.parse(value) {
            #expect(own == nil)
            #expect(byJansson == nil)
        }
    }

    @Test func `numbers become the nearest doubles`() {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<10_000 {
            let digits = String(Int64.random(in: 0..<1_000_000_000_000_000_000, using: &random))
            let point = Int.random(in: 1...digits.count, using: &random)
            var text = "\(digits.prefix(point)).\(digits.dropFirst(point))\(point == digits.count ? "0" : "")"
            if Bool.random(using: &random) { text += "e\(Int.random(in: -340...290, using: &random))" }
            for (own, byJansson) in Self.parse(text) { #expect(own == byJansson && own != nil, "\(text)") }
        }
    }

    /// Documents that are almost valid reach more branches than random bytes.
    @Test func `documents with random changes are parsed or rejected by both parsers`() {
        let pieces = [
            "{", "}", "[", "]", ",", ":", "\"", "\\", "\"a\"", "\"b\":", "\\u00e9", "\\ud83d", "\\ude00", "\\n", "0",
            "-", "1.5",
            "e5", "E+2", "true", "null", " ", "\n", "\u{1}", "é", "99999999999999999999",
            "\"long string of plain text\"",
        ].map { Array($0.utf8) }
        let document = Array(
            #"{"a":[1,-2.5e3,"x\ny\u00e9",{"k":null}],"b":{"c":"é","d":[true,false,[],{}]},"e":"\ud83d\ude00"}"#.utf8)
        var random = SystemRandomNumberGenerator()
        var accepted = 0
        for _ in 0..<20_000 {
            var text = document
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let start = Int.random(in: 0..<text.count, using: &random)
                let end = min(text.count, start + Int.random(in: 0...3, using: &random))
                let piece =
                    Int.random(in: 0..<8, using: &random) == 0
                    ? [UInt8.random(in: 0...255, using: &random)] : pieces.randomElement(using: &random) ?? []
                text.replaceSubrange(start..<end, with: piece)
            }
            let own = try? JSON(parsing: text, limits: Self.limits)
            #expect(own == JanssonOracle.parse(text, limits: Self.limits), "\(String(decoding: text, as: UTF8.self))")
            accepted += own == nil ? 0 : 1
        }
        #expect(accepted > 500)
    }

    @Test func `both parsers read forty levels`() throws {
        let text = String(repeating: "[", count: 40) + String(repeating: "]", count: 40)
        for (own, byJansson) in Self.parse(text, limits: JSONLimits(bytes: 1000, depth: 50)) {
            #expect(try #require(own) == #require(byJansson))
        }
    }

    @Test(arguments: 1...12)
    func `both parsers apply the same limits`(number: Int) {
        let values = [
            "[[[1]]]", "[1,2,3,4]", "{\"a\":[],\"b\":{},\"c\":[{}]}", "{\"a\":1,\"b\":2,\"c\":3}", "[[],[],[]]",
        ]
        for value in values {
            for limits in [
                JSONLimits(bytes: 1000, depth: number), JSONLimits(bytes: 1000, members: number),
                JSONLimits(bytes: 1000, values: number), JSONLimits(bytes: number),
            ] {
                for (own, byJansson) in Self.parse(value, limits: limits) {
                    #expect(own == byJansson, "\(value) with \(limits)")
                }
            }
        }
    }

    @Test(arguments: [16, 17, 18, 100])
    func `an object of any size has each key once`(count: Int) throws {
        let members = (0..<count).map { "\"k\($0)\":\($0)" }.joined(separator: ",")
        for (own, byJansson) in Self.parse("{\(members)}") { #expect(try #require(own) == #require(byJansson)) }
        for key in [0, 7, count - 1] {
            for (own, byJansson) in Self.parse("{\(members),\"k\(key)\":0}") {
                #expect(own == nil && byJansson == nil)
            }
        }
    }

    @Test func `a slice is parsed to its end and no further`() {
        let bytes = Array("{\"a\":12}34}".utf8)
        #expect((try? JSON(parsing: bytes[..<8], limits: Self.limits)) == ["a": 12])
        for count in 0..<8 { #expect((try? JSON(parsing: bytes[..<count], limits: Self.limits)) == nil) }
    }
}
