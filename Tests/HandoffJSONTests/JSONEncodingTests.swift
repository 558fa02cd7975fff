import HandoffJSON
import Testing

private func text(_ value: JSON) -> String? {
    String(validating: value.encoded(), as: UTF8.self)
}

struct JSONEncodingTests {
    @Test(arguments: [
        (JSON.null, "null"),
        (.bool(true), "true"),
        (.bool(false), "false"),
        (.integer(0), "0"),
        (.integer(.max), "9223372036854775807"),
        (.integer(.min), "-9223372036854775808"),
        (.real(1), "1.0"),
        (.real(-0.0), "-0.0"),
        (.real(0.1), "0.1"),
        (.real(1e308), "1e+308"),
        (.real(.leastNonzeroMagnitude), "5e-324"),
        (.real(9_007_199_254_740_992), "9007199254740992.0"),
        (.real(1e16), "1e+16"),
        (.real(.nan), "null"),
        (.real(-.infinity), "null"),
        (
            .string("a\"\\/\u{8}\t\n\u{C}\r\u{0}\u{1}\u{1F}\u{7F}é😀"),
            "\"a\\\"\\\\/\\b\\t\\n\\f\\r\\u0000\\u0001\\u001f\u{7F}é😀\""
        ),
        (.array([]), "[]"),
        (.array([1, 2.5, "x", nil, true]), #"[1,2.5,"x",null,true]"#),
        (.object([:]), "{}"),
        (.object(["b": 1, "a": [:], "": nil]), #"{"b":1,"a":{},"":null}"#),
    ])
    func `a value has exactly one compact encoding`(value: JSON, expected: String) {
        #expect(text(value) == expected)
        #expect(value.encodedCount == expected.utf8.count)
    }

    @Test(arguments: [0, 1, 1022, 1023, 1024, 1025, 2047, 2048, 2500])
    func `a long string is escaped at any position`(position: Int) {
        let before = String(repeating: "a", count: position)
        let after = String(repeating: "é", count: 1500)
        for (character, escape) in [("\"", "\\\""), ("\\", "\\\\"), ("\n", "\\n"), ("\u{1F}", "\\u001f")] {
            let value = JSON.object([before + character: .string(before + character + after)])
            #expect(text(value) == "{\"\(before)\(escape)\":\"\(before)\(escape)\(after)\"}")
            #expect(value.encodedCount == value.encoded().count)
        }
        #expect(text(.string(before + after)) == "\"\(before)\(after)\"")
    }

    @Test func `bytes are appended to existing bytes`() {
        var bytes: [UInt8] = [1, 2]
        JSON.array([1]).encode(into: &bytes)
        JSONObject(["a": 1].map { ($0.key, JSON.integer($0.value)) }).encode(into: &bytes)
        #expect(bytes == [1, 2] + Array("[1]{\"a\":1}".utf8))
    }

    @Test(
        arguments: [
            0.1, -0.0, 1.0 / 3, 1e308, Double.leastNonzeroMagnitude, 2.2250738585072014e-308, 1.7976931348623157e308,
            123456789.123, 1e15, 1e16,
            1e17, 1e21, 1e22, 4503599627370496.5, 9007199254740991, 9007199254740992, 1e-5, 0.0001,
        ] as [Double])
    func `a real reads back as the same real`(number: Double) throws {
        for value in [number, -number] {
            let read = try JSON(parsing: JSON.real(value).encoded(), limits: JSONLimits(bytes: 100))
            #expect(read == .real(value))
        }
    }

    @Test func `any finite bit pattern reads back`() throws {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<2000 {
            let value = Double(bitPattern: generator.next())
            guard value.isFinite else { continue }
            let read = try JSON(parsing: JSON.real(value).encoded(), limits: JSONLimits(bytes: 100))
            #expect(read == .real(value))
        }
    }

    @Test func `every character reads back from strings and keys`() throws {
        let scalars = (1...0x10FFFF).lazy.compactMap(Unicode.Scalar.init).filter {
            $0.value < 0x3000 || $0.value % 97 == 0
        }
        var everything = String.UnicodeScalarView()
        everything.append(contentsOf: scalars)
        let value: JSON = .object([String(everything): .string("\0" + String(everything))])
        #expect(try JSON(parsing: value.encoded(), limits: JSONLimits(bytes: 1 << 20)) == value)
    }
}
