/// Reads the members of an object by name and reports each problem as the caller's error. Null is
/// equivalent to a missing member, and unknown members are ignored.
///
/// Values whose properties are their members are read as a whole instead; see
/// `JSONObject.decoded(as:)`. A member whose invalid value is equivalent to none is read with the
/// accessors of `JSON`.
package struct JSONFields<Failure: Error>: Sendable {
    package let object: JSONObject

    /// Creates the error for a member that is missing or invalid: from its path, such as
    /// `peers[1].device`, and the expectation, such as "a string".
    private let failure: @Sendable (_ path: String, _ expected: String) -> Failure

    package init(_ object: JSONObject, failure: @escaping @Sendable (_ path: String, _ expected: String) -> Failure) {
        self.object = object
        self.failure = failure
    }

    /// The error for a member that breaks a rule of the caller.
    package func invalid(_ path: String, _ expected: String = "valid") -> Failure {
        failure(path, expected)
    }

    /// The member, or nil if it is missing or null.
    private func member(_ key: String) -> JSON? {
        guard let json = object[key], !json.isNull else { return nil }
        return json
    }

    // MARK: Optional members

    /// Returns a text of at most `maximum` bytes, or nil if it is missing.
    package func optionalText(_ key: String, maximum: Int = .max) throws(Failure) -> String? {
        guard let json = member(key) else { return nil }
        guard case .string(let text) = json, text.utf8.count <= maximum else { throw failure(key, "a string") }
        return text
    }

    /// Returns an integer, or nil if it is missing.
    package func optionalInteger(_ key: String) throws(Failure) -> Int64? {
        guard let json = member(key) else { return nil }
        guard case .integer(let integer) = json else { throw failure(key, "an integer") }
        return integer
    }

    /// Returns an object, or nil if it is missing.
    package func optionalObject(_ key: String) throws(Failure) -> JSONObject? {
        guard let json = member(key) else { return nil }
        guard case .object(let object) = json else { throw failure(key, "an object") }
        return object
    }

    /// Returns a value that is decoded from the member, or nil if it is missing.
    package func optional<Value: Decodable>(
        _ key: String, as type: Value.Type = Value.self
    ) throws(Failure) -> Value? {
        guard let json = member(key) else { return nil }
        do throws(JSONPath) {
            return try json.decoded(as: type)
        } catch {
            throw failure(error.inside(key).path, "valid")
        }
    }

    // MARK: Members with a default

    /// Returns a Boolean; false if it is missing.
    package func isSet(_ key: String) throws(Failure) -> Bool {
        guard let json = member(key) else { return false }
        guard case .bool(let isSet) = json else { throw failure(key, "a Boolean") }
        return isSet
    }

    /// Returns an array; empty if it is missing.
    package func array(_ key: String) throws(Failure) -> [JSON] {
        guard let json = member(key) else { return [] }
        guard case .array(let elements) = json else { throw failure(key, "an array") }
        return elements
    }

    /// Returns a list of at most `maximum` texts, whose lengths in bytes are in `lengths`; empty if
    /// it is missing.
    package func texts(
        _ key: String, maximum: Int = .max, lengths: ClosedRange<Int> = 0...Int.max
    ) throws(Failure) -> [String] {
        guard let json = member(key) else { return [] }
        guard case .array(let elements) = json, elements.count <= maximum else {
            throw failure(key, "a list of strings")
        }
        let texts = elements.compactMap(\.string).filter { lengths.contains($0.utf8.count) }
        guard texts.count == elements.count else { throw failure(key, "a list of strings") }
        return texts
    }

    // MARK: Required members

    /// Returns a required text of at most `maximum` bytes.
    package func text(_ key: String, maximum: Int = .max) throws(Failure) -> String {
        guard let text = try optionalText(key, maximum: maximum) else { throw failure(key, "a string") }
        return text
    }

    /// Returns a required integer.
    package func integer(_ key: String) throws(Failure) -> Int64 {
        guard let integer = try optionalInteger(key) else { throw failure(key, "an integer") }
        return integer
    }

    /// Returns a required value that is decoded from the member.
    package func value<Value: Decodable>(
        _ key: String, as type: Value.Type = Value.self
    ) throws(Failure) -> Value {
        guard let value = try optional(key, as: type) else { throw failure(key, "valid") }
        return value
    }
}
