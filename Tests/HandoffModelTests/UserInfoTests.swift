import HandoffJSON
import HandoffModel
import Testing

struct UserInfoTests {
    @Test(
        arguments: [
            [:], ["a": nil], ["": 1], ["$x": 1, "$y": 2], ["$dict": [[1, 2]]], ["$dict": []], ["a": ["$set": []]],
        ] as [JSONObject])
    func `a dictionary in the tagged form is accepted`(object: JSONObject) {
        #expect(throws: Never.self) { try UserInfo.validate(object) }
    }

    @Test(
        arguments: [
            (["$data": "AA=="], "userInfo.$data"),
            (["$set": []], "userInfo.$set"),
            (["$x": 1], "userInfo.$x"),
            (["a": ["$foo": 1]], "userInfo.a.$foo"),
            (["a": ["$": 1]], "userInfo.a.$"),
            (["a": ["$data": "A"]], "userInfo.a.$data"),
            (["a": ["$data": 1]], "userInfo.a.$data"),
            (["a": ["$data": "AB=="]], "userInfo.a.$data"),
            (["a": ["$date": "x"]], "userInfo.a.$date"),
            (["a": ["$date": .real(.infinity)]], "userInfo.a.$date"),
            (["a": ["$url": 1]], "userInfo.a.$url"),
            (["a": ["$uuid": "x"]], "userInfo.a.$uuid"),
            (["a": ["$double": "NaN"]], "userInfo.a.$double"),
            (["a": ["$double": "1.0"]], "userInfo.a.$double"),
            (["a": ["$uint": "9223372036854775807"]], "userInfo.a.$uint"),
            (["a": ["$uint": "018446744073709551615"]], "userInfo.a.$uint"),
            (["a": ["$uint": "+18446744073709551615"]], "userInfo.a.$uint"),
            (["a": ["$uint": "18446744073709551616"]], "userInfo.a.$uint"),
            (["a": ["$uint": 1]], "userInfo.a.$uint"),
            (["a": ["$set": ["x": 1]]], "userInfo.a.$set"),
            (["a": ["$set": [1, 1]]], "userInfo.a.$set"),
            (["a": ["$dict": [[1]]]], "userInfo.a.$dict.0"),
            (["a": ["$dict": [[1, 2, 3]]]], "userInfo.a.$dict.0"),
            (["a": ["$dict": [[1, 2], [1, 3]]]], "userInfo.a.$dict.1"),
            (["a": ["$dict": ["x": 1]]], "userInfo.a.$dict"),
            (["a": [1, ["b": .real(.nan)]]], "userInfo.a.1.b"),
            (["a\0b": 1], "userInfo.a\\u{0}b"),
            (["\u{1B}": ["$x": 1]], "userInfo.\\u{1B}.$x"),
        ] as [(JSONObject, String)])
    func `an invalid value is rejected with its path`(object: JSONObject, field: String) throws {
        let error = try #require(throws: ActivityError.self) { try UserInfo.validate(object) }
        #expect(error.field == field)
        #expect(error.code == 4608)
    }

    /// Returns a value nested in `count` containers, each created by the closure.
    private static func nested(_ count: Int, in container: (JSON) -> JSON) -> JSON {
        (0..<count).reduce(.integer(1)) { value, _ in container(value) }
    }

    @Test func `exactly 24 levels of objects and arrays are accepted`() throws {
        for container in [{ .array([$0]) }, { .object(["k": $0]) }] as [(JSON) -> JSON] {
            #expect(throws: Never.self) { try UserInfo.validate(["a": Self.nested(23, in: container)]) }
            let error = try #require(throws: ActivityError.self) {
                try UserInfo.validate(["a": Self.nested(24, in: container)])
            }
            #expect(error.message.contains("24"))
        }
    }

    @Test func `a tagged leaf does not count as a level`() {
        let object: JSONObject = ["a": Self.nested(22) { .array([$0, ["$data": "AA=="]]) }]
        #expect(throws: Never.self) { try UserInfo.validate(object) }
    }

    @Test func `an accepted value can be parsed inside any message`() throws {
        // The deepest value of each shape, with everything that encloses it in an event.
        let shapes: [(JSON) -> JSON] = [
            { .array([$0]) }, { .object(["k": $0]) }, { ["$set": [$0]] }, { ["$dict": [[1, $0]]] },
            { ["$dict": [[$0, 1]]] },
        ]
        for shape in shapes {
            var deepest: JSONObject?
            for count in 1...30 {
                let object: JSONObject = ["a": Self.nested(count, in: shape), "b": ["$data": "AA=="]]
                if (try? UserInfo.validate(object)) != nil { deepest = object }
            }
            let message: JSON = ["parameters": ["content": ["userInfo": .object(try #require(deepest))]]]
            #expect(throws: Never.self) {
                try JSON(parsing: message.encoded(), limits: JSONLimits(bytes: 1 << 20))
            }
        }
    }

    @Test func `nested sets are accepted up to the JSON depth limit`() {
        #expect(throws: Never.self) { try UserInfo.validate(["a": Self.nested(13) { ["$set": [$0]] }]) }
        #expect(throws: ActivityError.self) { try UserInfo.validate(["a": Self.nested(14) { ["$set": [$0]] }]) }
    }

    @Test func `very deep values are rejected without a stack overflow`() {
        #expect(throws: ActivityError.self) { try UserInfo.validate(["a": Self.nested(2000) { .array([$0]) }]) }
    }
}
