import HandoffJSON
import HandoffModel
import Testing

/// Converts a value to the tagged form, its text, and back, as between two apps.
private func roundTrip(_ value: UserInfoValue) throws -> UserInfoValue {
    let text = value.tagged().encoded()
    return try UserInfoValue(tagged: JSON(parsing: text, limits: JSONLimits(bytes: 1 << 20)))
}

struct UserInfoValueTests {
    private static let uuid: [UInt8] = (0..<16).map { $0 &* 17 }

    static let values: [UserInfoValue] = [
        .null, .bool(true), .bool(false),
        .integer(0), .integer(.max), .integer(.min), .integer(-1), .integer(1 << 53 + 1),
        .unsigned(UInt64(Int64.max) + 1), .unsigned(.max),
        .double(0), .double(-0.0), .double(1), .double(-1), .double(0.1), .double(1e308),
        .double(.leastNonzeroMagnitude),
        .double(.greatestFiniteMagnitude), .double(9_007_199_254_740_992), .double(.nan), .double(.infinity),
        .double(-.infinity),
        .string(""), .string("plain"), .string("a\0b"), .string("$data"), .string("e\u{301}"), .string("\u{E9}"),
        .string("😀\u{202E}\u{1B}\"\\"),
        .data([]), .data([0]), .data([0, 1]), .data([0, 1, 2]), .data(Array(0...255)),
        .date(0), .date(-0.0), .date(-63_114_076_800), .date(0.1), .date(725_846_400),
        .url("https://example.com/ü?q=1"), .url("mailto:a@b"), .url(""), .uuid(uuid),
        .array([]), .array([.null, .integer(1), .double(1), .array([])]),
        .set([]), .set([.string("e\u{301}"), .string("\u{E9}"), .integer(1), .double(1), .data([1])]),
        .dictionary([]),
        .dictionary([(.string(""), .integer(1))]),
        .dictionary([(.string("$data"), .string("x"))]),
        .dictionary([(.string("$"), .null)]),
        .dictionary([(.string("$data"), .string("x")), (.string("y"), .null)]),
        .dictionary([(.string("e\u{301}"), .integer(1)), (.string("\u{E9}"), .integer(2))]),
        .dictionary([(.string("a\0"), .integer(1)), (.string("a"), .integer(2))]),
        .dictionary([
            (.integer(1), .string("integer")), (.double(1), .string("double")), (.string("1"), .string("string")),
        ]),
        .dictionary([(.data([1]), .set([.null])), (.null, .null), (.array([.bool(true)]), .date(1))]),
        .dictionary([(.dictionary([(.string("$x"), .integer(1))]), .dictionary([]))]),
        .dictionary([(.double(.nan), .double(.nan))]),
    ]

    @Test(arguments: values)
    func `a value of each type survives the round trip exactly`(value: UserInfoValue) throws {
        #expect(try roundTrip(value) == value)
        let nested = UserInfoValue.dictionary([(.string("k"), .array([value, .set([value])]))])
        #expect(try roundTrip(nested) == nested)
    }

    @Test func `different values are never equal`() {
        for (left, first) in Self.values.enumerated() {
            for (right, second) in Self.values.enumerated() {
                #expect((first == second) == (left == right), "\(first) and \(second)")
            }
        }
        #expect(Set(Self.values).count == Self.values.count)
    }

    @Test func `sets and dictionaries are equal in any order`() {
        #expect(UserInfoValue.set([.integer(1), .integer(2)]) == .set([.integer(2), .integer(1)]))
        let one = UserInfoValue.dictionary([(.integer(1), .null), (.string("a"), .bool(true))])
        let other = UserInfoValue.dictionary([(.string("a"), .bool(true)), (.integer(1), .null)])
        #expect(one == other)
        #expect(one.hashValue == other.hashValue)
        #expect(UserInfoValue.array([.integer(1), .integer(2)]) != .array([.integer(2), .integer(1)]))
    }

    @Test(arguments: [
        (UserInfoValue.double(1), "1.0"),
        (.integer(1), "1"),
        (.unsigned(5), "5"),
        (.unsigned(.max), #"{"$uint":"18446744073709551615"}"#),
        (.double(.nan), #"{"$double":"nan"}"#),
        (.double(-.infinity), #"{"$double":"-inf"}"#),
        (.data([1, 2]), #"{"$data":"AQI="}"#),
        (.date(5), #"{"$date":5.0}"#),
        (.url("x:y"), #"{"$url":"x:y"}"#),
        (.uuid(uuid), #"{"$uuid":"00112233-4455-6677-8899-AABBCCDDEEFF"}"#),
        (.set([.integer(1)]), #"{"$set":[1]}"#),
        (.dictionary([(.string("a"), .integer(1))]), #"{"a":1}"#),
        (.dictionary([(.string("$a"), .integer(1))]), #"{"$dict":[["$a",1]]}"#),
        (.dictionary([(.integer(1), .null)]), #"{"$dict":[[1,null]]}"#),
    ])
    func `the tagged form is as documented`(value: UserInfoValue, text: String) {
        #expect(String(validating: value.tagged().encoded(), as: UTF8.self) == text)
    }

    @Test func `an integer is accepted as a date`() throws {
        #expect(try UserInfoValue(tagged: ["$date": 5]) == .date(5))
    }

    @Test func `a number tagged as a real is a real, even if written as an integer`() throws {
        #expect(try UserInfoValue(tagged: ["$double": 5]) == .double(5))
        #expect(try UserInfoValue(tagged: ["$double": 5.5]) == .double(5.5))
        #expect(try UserInfoValue(tagged: ["$double": -0.0]) == .double(-0.0))
        #expect(throws: ActivityError.self) { try UserInfoValue(tagged: ["$double": .real(.infinity)]) }
    }

    @Test func `a value that Foundation cannot produce is rejected`() {
        let twice: [(key: UserInfoValue, value: UserInfoValue)] = [(.string("a"), .null), (.string("a"), .null)]
        for value in [.dictionary(twice), .date(.nan), .set([.null, .null])] as [UserInfoValue] {
            #expect(throws: ActivityError.self) { try roundTrip(value) }
        }
    }
}
