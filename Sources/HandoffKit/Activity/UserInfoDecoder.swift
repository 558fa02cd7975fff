import Foundation
import HandoffModel

/// Decodes an app's value from a `userInfo` value. That was created by `UserInfoEncoder`, or key by
/// key by an app in this or another language. A number decodes as every type that can represent it,
/// and `URL` and `UUID` also decode from strings.
struct UserInfoDecoder: Decoder {
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }
    private let value: UserInfoValue

    init(_ value: UserInfoValue, codingPath: [any CodingKey] = []) {
        self.value = value
        self.codingPath = codingPath
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard case .dictionary(let pairs) = value else { throw single.mismatch([String: Any].self) }
        var members: [String: UserInfoValue] = [:]
        for (key, value) in pairs {
            switch key {
            case .string(let name): members[name] = value
            // Encoding a dictionary with integer keys turns the keys into strings; accept both.
            case .integer(let number): members["\(number)"] = value
            default: break
            }
        }
        return KeyedDecodingContainer(Members(members: members, codingPath: codingPath))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        switch value {
        case .array(let elements), .set(let elements): Elements(elements: elements, codingPath: codingPath)
        default: throw single.mismatch([Any].self)
        }
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { single }

    private var single: Single { Single(value: value, codingPath: codingPath) }
}

/// Decodes a single value. The keyed and unkeyed containers use it for each of their values.
private struct Single: SingleValueDecodingContainer {
    let value: UserInfoValue
    let codingPath: [any CodingKey]

    func decodeNil() -> Bool { value == .null }

    func decode(_ type: Bool.Type) throws -> Bool {
        guard case .bool(let value) = value else { throw mismatch(type) }
        return value
    }

    func decode(_ type: String.Type) throws -> String {
        guard case .string(let text) = value else { throw mismatch(type) }
        return text
    }

    func decode(_ type: Double.Type) throws -> Double {
        switch value {
        case .double(let value): value
        case .integer(let value): Double(value)
        case .unsigned(let value): Double(value)
        default: throw mismatch(type)
        }
    }

    func decode(_ type: Float.Type) throws -> Float { Float(try decode(Double.self)) }
    func decode(_ type: Int.Type) throws -> Int { try integer() }
    func decode(_ type: Int8.Type) throws -> Int8 { try integer() }
    func decode(_ type: Int16.Type) throws -> Int16 { try integer() }
    func decode(_ type: Int32.Type) throws -> Int32 { try integer() }
    func decode(_ type: Int64.Type) throws -> Int64 { try integer() }
    func decode(_ type: UInt.Type) throws -> UInt { try integer() }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try integer() }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try integer() }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try integer() }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try integer() }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let own: Any?
        switch (type, value) {
        case (is Data.Type, .data(let bytes)): own = Data(bytes)
        case (is Date.Type, .date(let seconds)): own = Date(timeIntervalSinceReferenceDate: seconds)
        case (is URL.Type, .url(let text)), (is URL.Type, .string(let text)): own = URL(string: text)
        case (is UUID.Type, .uuid(let bytes)): own = UUID(uuidString: UUIDText.encode(bytes))
        case (is UUID.Type, .string(let text)): own = UUID(uuidString: text)
        case (is Data.Type, _), (is Date.Type, _), (is URL.Type, _), (is UUID.Type, _): own = nil
        default: return try Value(from: UserInfoDecoder(value, codingPath: codingPath))
        }
        guard let own = own as? Value else { throw mismatch(type) }
        return own
    }

    private func integer<Value: FixedWidthInteger>() throws -> Value {
        let number: Value? =
            switch value {
            case .integer(let value): Value(exactly: value)
            case .unsigned(let value): Value(exactly: value)
            case .double(let value): Value(exactly: value)
            default: nil
            }
        guard let number else { throw mismatch(Value.self) }
        return number
    }

    func mismatch(_ type: Any.Type) -> DecodingError {
        .typeMismatch(type, .init(codingPath: codingPath, debugDescription: "the userInfo value is not a \(type)"))
    }
}

private struct Members<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let members: [String: UserInfoValue]
    let codingPath: [any CodingKey]

    var allKeys: [Key] { members.keys.compactMap(Key.init(stringValue:)) }

    func contains(_ key: Key) -> Bool { members[key.stringValue] != nil }

    func decodeNil(forKey key: Key) throws -> Bool { try single(key).decodeNil() }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try single(key).decode(type)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        try superDecoder(forKey: key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try superDecoder(forKey: key).unkeyedContainer()
    }

    func superDecoder() -> any Decoder {
        UserInfoDecoder(members["super"] ?? .null, codingPath: codingPath)
    }

    func superDecoder(forKey key: Key) throws -> any Decoder {
        UserInfoDecoder(try single(key).value, codingPath: codingPath + [key])
    }

    private func single(_ key: Key) throws -> Single {
        guard let value = members[key.stringValue] else {
            throw DecodingError.keyNotFound(
                key, .init(codingPath: codingPath, debugDescription: "userInfo has no '\(key.stringValue)'"))
        }
        return Single(value: value, codingPath: codingPath + [key])
    }
}

private struct Elements: UnkeyedDecodingContainer {
    let elements: [UserInfoValue]
    let codingPath: [any CodingKey]
    private(set) var currentIndex = 0

    var count: Int? { elements.count }
    var isAtEnd: Bool { currentIndex == elements.count }

    mutating func decodeNil() throws -> Bool {
        // Advance only past nil.
        guard try single(Never.self).decodeNil() else { return false }
        currentIndex += 1
        return true
    }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let value = try single(type).decode(type)
        currentIndex += 1
        return value
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) throws -> KeyedDecodingContainer<Nested> {
        try superDecoder().container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try superDecoder().unkeyedContainer()
    }

    mutating func superDecoder() throws -> any Decoder {
        let decoder = UserInfoDecoder(try single((any Decoder).self).value, codingPath: codingPath)
        currentIndex += 1
        return decoder
    }

    private func single(_ type: Any.Type) throws -> Single {
        guard !isAtEnd else {
            throw DecodingError.valueNotFound(
                type, .init(codingPath: codingPath, debugDescription: "userInfo has only \(elements.count) elements"))
        }
        return Single(value: elements[currentIndex], codingPath: codingPath)
    }
}
