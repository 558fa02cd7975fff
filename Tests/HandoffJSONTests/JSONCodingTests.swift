import HandoffJSON
import Testing

/// Swift values encoded as JSON by their properties.
struct JSONCodingTests {
    private struct Inner: Codable, Equatable {
        enum Word: String, Codable {
            case one, two
        }

        var word = Word.one
        var numbers: [Int] = [1, 2]
    }

    private struct Outer: Codable, Equatable {
        var text = "t"
        var flag: Bool?
        var port: UInt16 = 7
        var big: UInt64? = 9
        var ratio = 1.5
        var anything: JSONObject = ["a": [1, nil]]
        var inner: Inner? = Inner()
        var list: [Inner] = [Inner(), Inner(word: .two, numbers: [])]
        var table: [String: Int?] = ["k": 1]
    }

    @Test func `a value survives coding, and its members are in the order of its properties`() throws {
        let value = Outer()
        let json = JSONObject(encoding: value, absent: .null)
        #expect(
            String(decoding: json.encoded(), as: UTF8.self)
                == #"{"text":"t","flag":null,"port":7,"big":9,"ratio":1.5,"anything":{"a":[1,null]},"#
                + #""inner":{"word":"one","numbers":[1,2]},"#
                + #""list":[{"word":"one","numbers":[1,2]},{"word":"two","numbers":[]}],"table":{"k":1}}"#)
        #expect(try json.decoded() == value)
        let short = JSONObject(encoding: Outer(big: nil, inner: nil), absent: .omitted)
        #expect(short.keys == ["text", "port", "ratio", "anything", "list", "table"])
        #expect(try short.decoded() == Outer(big: nil, inner: nil))
    }

    @Test(
        arguments: [
            ("text", nil, "text"), ("text", 1, "text"), ("text", .null, "text"), ("flag", 1, "flag"),
            ("port", -1, "port"), ("port", 65_536, "port"), ("port", 1.0, "port"), ("big", -1, "big"),
            ("ratio", "1", "ratio"), ("anything", [], "anything"), ("inner", [], "inner"), ("inner", [:], "inner.word"),
            ("inner", ["word": "three", "numbers": []], "inner.word"),
            ("inner", ["word": "one", "numbers": [1, "2"]], "inner.numbers[1]"),
            ("list", [nil], "list[0]"), ("list", [["word": "one", "numbers": [[]]]], "list[0].numbers[0]"),
            ("table", ["k": true], "table.k"),
        ] as [(String, JSON?, String)])
    func `an error contains the path`(key: String, value: JSON?, path: String) {
        var json = JSONObject(encoding: Outer(), absent: .null)
        json[key] = value
        #expect {
            let _: Outer = try json.decoded()
        } throws: {
            ($0 as? JSONPath)?.path == path
        }
    }

    @Test func `null is equivalent to absent, and unknown members are ignored`() throws {
        var json = JSONObject(encoding: Outer(), absent: .null)
        json["flag"] = nil
        json["big"] = .null
        json["inner"] = nil
        json["more"] = 1
        #expect(try json.decoded() == Outer(big: nil, inner: nil))
    }

    @Test func `numbers keep their range`() throws {
        #expect(try JSON.integer(5).decoded(as: Double.self) == 5)
        #expect(try JSON.integer(5).decoded(as: Float.self) == 5)
        #expect(throws: JSONPath.self) { try JSON.integer(128).decoded(as: Int8.self) }
        #expect(throws: JSONPath.self) { try JSON.integer(-1).decoded(as: UInt.self) }
        #expect(throws: JSONPath.self) { try JSON.real(1e300).decoded(as: Int.self) }
        #expect(JSONObject(encoding: ["n": UInt64.max], absent: .null) == ["n": .integer(.max)])
    }

    /// A value whose coding uses nested containers explicitly.
    private struct ByHand: Codable, Equatable {
        enum Key: String, CodingKey {
            case object, list, parent
        }

        var text = "t"

        init() {}

        init(from decoder: any Decoder) throws {
            let members = try decoder.container(keyedBy: Key.self)
            let object = try members.nestedContainer(keyedBy: Key.self, forKey: .object)
            var list = try members.nestedUnkeyedContainer(forKey: .list)
            #expect(try list.decodeNil())
            #expect(try list.nestedContainer(keyedBy: Key.self).decode(String.self, forKey: .list) == "a")
            var inner = try list.nestedUnkeyedContainer()
            #expect(try inner.decode(Int.self) == 1)
            #expect(inner.isAtEnd)
            #expect(try list.superDecoder().singleValueContainer().decode(String.self) == "e")
            #expect(list.isAtEnd)
            #expect(throws: (any Error).self) { try list.decode(Int.self) }
            #expect(try members.superDecoder().singleValueContainer().decode(Bool.self))
            #expect(try members.superDecoder(forKey: .parent).singleValueContainer().decodeNil())
            #expect(members.allKeys == [.object, .list, .parent])
            #expect(!members.contains(.parent))
            text = try object.decode(String.self, forKey: .object)
        }

        func encode(to encoder: any Encoder) throws {
            var members = encoder.container(keyedBy: Key.self)
            var object = members.nestedContainer(keyedBy: Key.self, forKey: .object)
            var list = members.nestedUnkeyedContainer(forKey: .list)
            try object.encode(text, forKey: .object)
            try list.encodeNil()
            var element = list.nestedContainer(keyedBy: Key.self)
            try element.encode("a", forKey: .list)
            var inner = list.nestedUnkeyedContainer()
            try inner.encode(1)
            var last = list.superEncoder().singleValueContainer()
            try last.encode("e")
            var parent = members.superEncoder().singleValueContainer()
            try parent.encode(true)
            var none = members.superEncoder(forKey: .parent).singleValueContainer()
            try none.encodeNil()
        }
    }

    @Test func `nested containers keep their positions`() throws {
        let json = JSONObject(encoding: ByHand(), absent: .omitted)
        #expect(
            String(decoding: json.encoded(), as: UTF8.self)
                == #"{"object":{"object":"t"},"list":[null,{"list":"a"},[1],"e"],"super":true,"parent":null}"#)
        #expect(try json.decoded() == ByHand())
    }
}
