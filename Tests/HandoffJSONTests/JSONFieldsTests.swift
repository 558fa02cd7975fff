import HandoffJSON
import Testing

struct JSONFieldsTests {
    /// The error of a caller.
    private struct Invalid: Error, Equatable {
        let text: String

        init(_ path: String, _ expected: String) {
            text = "\(path) is not \(expected)"
        }
    }

    private static let fields = JSONFields<Invalid>([
        "text": "four", "integer": 5, "real": 1.5, "flag": true, "object": ["a": 1], "none": nil,
        "texts": ["a", "bb"], "mixed": ["a", 1],
    ]) { Invalid($0, $1) }

    private static func error(_ read: (JSONFields<Invalid>) throws(Invalid) -> Void) -> String? {
        do throws(Invalid) {
            try read(fields)
            return nil
        } catch {
            return error.text
        }
    }

    @Test func `a member of the right type is returned`() throws {
        let fields = Self.fields
        #expect(try fields.text("text") == "four")
        #expect(try fields.optionalText("text", maximum: 4) == "four")
        #expect(try fields.integer("integer") == 5)
        #expect(try fields.isSet("flag"))
        #expect(try fields.optionalObject("object") == ["a": 1])
        #expect(try fields.array("mixed") == ["a", 1])
        #expect(try fields.texts("texts", maximum: 2, lengths: 1...2) == ["a", "bb"])
        #expect(try fields.value("integer", as: UInt8.self) == 5)
    }

    @Test(arguments: ["none", "other"])
    func `null is equivalent to a missing member`(key: String) throws {
        let fields = Self.fields
        #expect(try fields.optionalText(key) == nil)
        #expect(try fields.optionalInteger(key) == nil)
        #expect(try fields.optionalObject(key) == nil)
        #expect(try fields.optional(key, as: Bool.self) == nil)
        #expect(try !fields.isSet(key))
        #expect(try fields.array(key) == [])
        #expect(try fields.texts(key) == [])
        #expect(Self.error { fields throws(Invalid) in _ = try fields.text(key) } == "\(key) is not a string")
        #expect(Self.error { fields throws(Invalid) in _ = try fields.integer(key) } == "\(key) is not an integer")
        #expect(
            Self.error { fields throws(Invalid) in _ = try fields.value(key, as: Bool.self) } == "\(key) is not valid")
    }

    @Test func `the error is the caller's, with the path and the expectation`() {
        let errors = [
            Self.error { fields throws(Invalid) in _ = try fields.optionalText("integer") },
            Self.error { fields throws(Invalid) in _ = try fields.optionalText("text", maximum: 3) },
            Self.error { fields throws(Invalid) in _ = try fields.optionalInteger("real") },
            Self.error { fields throws(Invalid) in _ = try fields.isSet("integer") },
            Self.error { fields throws(Invalid) in _ = try fields.optionalObject("text") },
            Self.error { fields throws(Invalid) in _ = try fields.array("object") },
            Self.error { fields throws(Invalid) in _ = try fields.texts("mixed") },
            Self.error { fields throws(Invalid) in _ = try fields.texts("texts", maximum: 1) },
            Self.error { fields throws(Invalid) in _ = try fields.texts("texts", lengths: 2...2) },
            Self.error { fields throws(Invalid) in _ = try fields.value("mixed", as: [String].self) },
        ]
        #expect(
            errors == [
                "integer is not a string", "text is not a string", "real is not an integer", "integer is not a Boolean",
                "text is not an object", "object is not an array", "mixed is not a list of strings",
                "texts is not a list of strings", "texts is not a list of strings", "mixed[1] is not valid",
            ])
    }
}
