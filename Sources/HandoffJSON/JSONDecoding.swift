extension JSONObject {
    /// Decodes a value whose properties are the members. Null is equivalent to a missing member,
    /// and unknown members are ignored. The recursion is never deeper than the type.
    /// - Throws: The path of the first member that is missing or has the wrong type.
    package func decoded<Value: Decodable>(as type: Value.Type = Value.self) throws(JSONPath) -> Value {
        try JSON.object(self).decoded(as: type)
    }
}

extension JSON {
    /// Decodes this value as a property would be decoded; see `JSONObject.decoded(as:)`.
    package func decoded<Value: Decodable>(as type: Value.Type = Value.self) throws(JSONPath) -> Value {
        do {
            return try JSONDecoding(json: self).decode(type)
        } catch {
            throw JSONPath(error)
        }
    }
}

/// The path of an unexpected value inside a JSON value, such as `peers[1].device`. It is empty for
/// the value itself.
package struct JSONPath: Error, Equatable, Sendable {
    /// Keys and indices, from the outermost to the innermost.
    package let path: String

    /// The value itself.
    static let here = JSONPath(path: "")

    /// Returns the path as seen from the object that contains this value as the member `key`.
    func inside(_ key: String) -> JSONPath {
        JSONPath(path: path.isEmpty || path.hasPrefix("[") ? key + path : "\(key).\(path)")
    }
}

extension JSONPath {
    /// The path of a `JSONPath` error. Any other error refers to the value itself.
    init(_ error: any Error) {
        path = (error as? JSONPath)?.path ?? ""
    }
}

/// Decodes one JSON value. It does not track the path: an error collects it while it propagates.
private struct JSONDecoding: Decoder, SingleValueDecodingContainer {
    let json: JSON

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard case .object(let object) = json else { throw JSONPath.here }
        return KeyedDecodingContainer(Members(object: object))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard case .array(let array) = json else { throw JSONPath.here }
        return Elements(array: array)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { self }

    func decodeNil() -> Bool { json.isNull }

    func decode<Value: JSONScalar>(_ type: Value.Type) throws -> Value {
        guard let value = Value.value(of: json) else { throw JSONPath.here }
        return value
    }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try Value(from: self)
    }
}

private struct Members<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let object: JSONObject

    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] { object.keys.compactMap(Key.init(stringValue:)) }

    func contains(_ key: Key) -> Bool { present(key) != nil }

    func decodeNil(forKey key: Key) -> Bool { present(key) == nil }

    func decode<Value: JSONScalar>(_ type: Value.Type, forKey key: Key) throws -> Value {
        guard let json = present(key), let value = Value.value(of: json) else { throw Self.place(key) }
        return value
    }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        guard let json = present(key) else { throw Self.place(key) }
        return try Self.decode(json, at: key)
    }

    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
        guard let json = present(key) else { return nil }
        return try Self.decode(json, at: key)
    }

    private func scalar<Value: JSONScalar>(_ key: Key) throws -> Value? {
        guard let json = present(key) else { return nil }
        guard let value = Value.value(of: json) else { throw Self.place(key) }
        return value
    }

    // The protocol's default implementations look up the member three times.
    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? { try scalar(key) }
    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? { try scalar(key) }
    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? { try scalar(key) }
    func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? { try scalar(key) }
    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? { try scalar(key) }
    func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? { try scalar(key) }
    func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? { try scalar(key) }
    func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? { try scalar(key) }
    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? { try scalar(key) }
    func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? { try scalar(key) }
    func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? { try scalar(key) }
    func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? { try scalar(key) }
    func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? { try scalar(key) }
    func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? { try scalar(key) }

    func nestedContainer<Inner: CodingKey>(
        keyedBy type: Inner.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Inner> {
        try superDecoder(forKey: key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try superDecoder(forKey: key).unkeyedContainer()
    }

    func superDecoder() -> any Decoder { JSONDecoding(json: object["super"] ?? .null) }

    func superDecoder(forKey key: Key) -> any Decoder { JSONDecoding(json: present(key) ?? .null) }

    /// Returns the member, or nil if it is missing or null.
    private func present(_ key: Key) -> JSON? {
        guard let json = object[key.stringValue], !json.isNull else { return nil }
        return json
    }

    private static func decode<Value: Decodable>(_ json: JSON, at key: Key) throws -> Value {
        do {
            return try Value(from: JSONDecoding(json: json))
        } catch {
            throw JSONPath(error).inside(key.stringValue)
        }
    }

    private static func place(_ key: Key) -> JSONPath { .here.inside(key.stringValue) }
}

/// The elements of an array, read in order.
private struct Elements: UnkeyedDecodingContainer {
    let array: [JSON]
    private(set) var currentIndex = 0

    var codingPath: [any CodingKey] { [] }
    var count: Int? { array.count }
    var isAtEnd: Bool { currentIndex >= array.count }

    mutating func decodeNil() -> Bool {
        guard !isAtEnd, array[currentIndex].isNull else { return false }
        currentIndex += 1
        return true
    }

    mutating func decode<Value: JSONScalar>(_ type: Value.Type) throws -> Value {
        try next { try $0.decode(type) }
    }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try next { try $0.decode(type) }
    }

    mutating func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        try next { try $0.container(keyedBy: type) }
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try next { try $0.unkeyedContainer() }
    }

    mutating func superDecoder() throws -> any Decoder {
        try next { $0 }
    }

    private mutating func next<Value>(_ read: (JSONDecoding) throws -> Value) throws -> Value {
        do {
            guard !isAtEnd else { throw JSONPath.here }
            let value = try read(JSONDecoding(json: array[currentIndex]))
            currentIndex += 1
            return value
        } catch {
            throw JSONPath(error).inside("[\(currentIndex)]")
        }
    }
}

extension JSON: Decodable {
    /// Accepts any value, but only from `JSONDecoding`.
    package init(from decoder: any Decoder) throws {
        guard let decoding = decoder as? JSONDecoding else { throw JSONPath.here }
        self = decoding.json
    }
}

extension JSONObject: Decodable {
    package init(from decoder: any Decoder) throws {
        guard let object = try JSON(from: decoder).object else { throw JSONPath.here }
        self = object
    }
}
