import HandoffJSON
import Testing

/// Compares the one-pass reader with jansson. An escape in a key makes the parser use jansson for
/// the same value.
struct JSONPlainTests {
    private static let limits = JSONLimits(bytes: 1 << 20)

    private static func bothWays(_ value: String, limits: JSONLimits = limits) -> (plain: JSON?, byJansson: JSON?) {
        (
            try? JSON(parsing: Array("{\"k\":\(value)}".utf8), limits: limits),
            try? JSON(parsing: Array("{\"\\u006b\":\(value)}".utf8), limits: limits)
        )
    }

    @Test(arguments: [
        "{}", "[]", " { } ", "[ ]", "{\"a\":1}", "{ \"a\" : 1 , \"b\" : [ true , false , null ] }", "\"\"",
        "\"é\u{1F600}\"",
        "\"e\u{301}\"", "\"\u{7F}\"", "0", "-1", "999999999999999999", "-999999999999999999", "1000000000000000000",
        "9223372036854775807", "-9223372036854775808", "-0", "1.5", "-0.0", "1e3", "0.1", "-63.0", "0.3",
        "12345678901234.5", "123456789012345.6", "0.00000000000001", "0.000000000000001", "9007199254740993.0", "1.5e3",
        "0.123456789012345", "99999999.9999999", "3.14159265358979323846", "\"a\\nb\"", "\"\\u0041\"",
        "\"\\\"\"",
        "{\"\":{\"\":0}}", "{\"e\u{301}\":1,\"\u{E9}\":2}", "[[[[[[]]]]]]", "\t[\r\n1\t]\r",
    ])
    func `a value is parsed as jansson parses it`(value: String) throws {
        let (plain, byJansson) = Self.bothWays(value)
        #expect(try #require(plain) == #require(byJansson))
    }

    @Test(arguments: [
        "", "01", "-", "-01", "00", "1 2", "9223372036854775808", "tru", "truee", "nulll", "True", "\"a", "\"\u{1}\"",
        "\"a\nb\"",
        "[1,]", "[,1]", "[1", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{\"a\":1,\"a\":1}", "{a:1}", "{1:1}", "]", "1}",
        "1,2",
        "\"\\x\"", "1.", ".5", "-.5", "1.e3", "1.5.5", "00.5", "01.5",
        "-00.5", "1.-5", "+1", "\u{A0}1", "[1]]", "{} {}",
    ])
    func `a malformed value is rejected by both parsers`(value: String) {
        let (plain, byJansson) = Self.bothWays(value)
        #expect(plain == nil)
        #expect(byJansson == nil)
    }

    @Test func `numbers with a fraction become the nearest doubles`() {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<10_000 {
            let digits = String(Int64.random(in: 0..<1_000_000_000_000_000, using: &random))
            let point = Int.random(in: 1...digits.count, using: &random)
            let text = "\(digits.prefix(point)).\(digits.dropFirst(point))\(point == digits.count ? "0" : "")"
            let (plain, byJansson) = Self.bothWays(text)
            #expect(plain == byJansson && plain != nil, "\(text)")
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
                JSONLimits(bytes: 1000, values: number),
            ] {
                let (plain, byJansson) = Self.bothWays(value, limits: limits)
                #expect(plain == byJansson, "\(value) with \(limits)")
            }
        }
    }

    @Test func `large objects and deep nesting are also parsed`() throws {
        let members = (0..<100).map { "\"k\($0)\":\($0)" }.joined(separator: ",")
        let (plain, byJansson) = Self.bothWays("{\(members)}")
        #expect(try #require(plain) == #require(byJansson))
        let twice = Self.bothWays("{\(members),\"k7\":0}")
        #expect(twice.plain == nil && twice.byJansson == nil)
        let deep = String(repeating: "[", count: 40) + String(repeating: "]", count: 40)
        let deeper = Self.bothWays(deep, limits: JSONLimits(bytes: 1000, depth: 50))
        #expect(try #require(deeper.plain) == #require(deeper.byJansson))
    }

    @Test func `a slice is parsed to its end and no further`() {
        let bytes = Array("{\"a\":12}34}".utf8)
        #expect((try? JSON(parsing: bytes[..<8], limits: Self.limits)) == ["a": 12])
        for count in 0..<8 { #expect((try? JSON(parsing: bytes[..<count], limits: Self.limits)) == nil) }
    }
}
