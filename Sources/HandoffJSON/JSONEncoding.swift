/// The encoding of a property that is nil.
package enum NilEncoding: Sendable {
    case null
    case omitted
}

extension JSONObject {
    /// Creates an object whose members are the properties of `value`, in their order.
    ///
    /// - Parameter absent: The encoding of properties that are nil, including those of nested
    ///   values.
    package init(encoding value: some Encodable, absent: NilEncoding) {
        self = JSON(encoding: value, absent: absent).object ?? [:]
    }
}

extension JSON {
    /// Encodes a value as a property would be encoded; see `JSONObject`.
    package init(encoding value: some Encodable, absent: NilEncoding) {
        let encoding = JSONEncoding(absent: absent)
        do {
            try value.encode(to: encoding)
        } catch {
            // Only values of this project are encoded. None of them contains a number that JSON
            // lacks, and none of their encoders throws.
            preconditionFailure("a value that JSON does not have: \(error)")
        }
        self = encoding.json
    }
}

private final class JSONEncoding: Encoder, SingleValueEncodingContainer {
    let absent: NilEncoding
    /// Receives the finished value if it belongs inside another one.
    private let onFinish: ((JSON) -> Void)?
    fileprivate var single = JSON.null
    fileprivate var elements: [JSON]?
    fileprivate var members: JSONObject?

    init(absent: NilEncoding, onFinish: ((JSON) -> Void)? = nil) {
        self.absent = absent
        self.onFinish = onFinish
    }

    deinit {
        onFinish?(json)
    }

    var json: JSON {
        members.map(JSON.object) ?? elements.map(JSON.array) ?? single
    }

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        members = members ?? [:]
        return KeyedEncodingContainer(NewMembers(encoding: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        elements = elements ?? []
        return NewElements(encoding: self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }

    func encodeNil() { single = .null }

    func encode<Value: JSONScalar>(_ value: Value) { single = value.json }

    func encode<Value: Encodable>(_ value: Value) throws { single = try json(of: value) }

    /// Encodes a value inside this one.
    func json<Value: Encodable>(of value: Value) throws -> JSON {
        let inner = JSONEncoding(absent: absent)
        try value.encode(to: inner)
        return inner.json
    }

    func inner(_ key: String) -> JSONEncoding {
        members?[key] = .null
        return JSONEncoding(absent: absent) { self.members?[key] = $0 }
    }

    func innerElement() -> JSONEncoding {
        let position = elements?.count ?? 0
        elements?.append(.null)
        return JSONEncoding(absent: absent) { self.elements?[position] = $0 }
    }
}

private struct NewMembers<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let encoding: JSONEncoding

    var codingPath: [any CodingKey] { [] }

    func encodeNil(forKey key: Key) { encoding.members?.append(key.stringValue, .null) }

    func encode<Value: JSONScalar>(_ value: Value, forKey key: Key) {
        encoding.members?.append(key.stringValue, value.json)
    }

    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        encoding.members?.append(key.stringValue, try encoding.json(of: value))
    }

    func encodeIfPresent<Value: Encodable>(_ value: Value?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) } else { encodeAbsent(key) }
    }

    private func scalar(_ value: (some JSONScalar)?, _ key: Key) {
        if let value { encode(value, forKey: key) } else { encodeAbsent(key) }
    }

    // The protocol's default implementations omit nil.
    func encodeIfPresent(_ value: Bool?, forKey key: Key) { scalar(value, key) }
    func encodeIfPresent(_ value: String?, forKey key: Key) { scalar(value, key) }
    func encodeIfPresent(_ value: Double?, forKey key: Key) { scalar(value, key) }
    func encodeIfPresent(_ value: Float?, forKey key: Key) { scalar(value, key) }
    func encodeIfPresent(_ value: Int?, forKey key: Key) { scalar(value, key) }
    func encodeIfPresent(_ value: Int8?, forKey key: Key) { scalar(value, key) }
    func encodeIfPresent(_ value: Int16?, forKey key: Key) { scalar(value, key) }
    func encodeIfPresent(_ value: Int32?, forKey key: Key) { scalar(value, key) }
    func encodeIfPresent(_ value: Int64?, forKey key: Key) { scalar(value, key) }
    func encodeIfPresent(_ value: UInt?, forKey key: Key) { scalar(value, key) }
    func encodeIfPresent(_ value: UInt8?, forKey key: Key) { scalar(value, key) }
    func encodeIfPresent(_ value: UInt16?, forKey key: Key) { scalar(value, key) }
    func encodeIfPresent(_ value: UInt32?, forKey key: Key) { scalar(value, key) }
    func encodeIfPresent(_ value: UInt64?, forKey key: Key) { scalar(value, key) }

    func nestedContainer<Inner: CodingKey>(
        keyedBy type: Inner.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Inner> {
        encoding.inner(key.stringValue).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        encoding.inner(key.stringValue).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { encoding.inner("super") }

    func superEncoder(forKey key: Key) -> any Encoder { encoding.inner(key.stringValue) }

    private func encodeAbsent(_ key: Key) {
        if encoding.absent == .null { encodeNil(forKey: key) }
    }
}

private struct NewElements: UnkeyedEncodingContainer {
    let encoding: JSONEncoding

    var codingPath: [any CodingKey] { [] }
    var count: Int { encoding.elements?.count ?? 0 }

    func encodeNil() { encoding.elements?.append(.null) }

    func encode<Value: JSONScalar>(_ value: Value) { encoding.elements?.append(value.json) }

    func encode<Value: Encodable>(_ value: Value) throws { encoding.elements?.append(try encoding.json(of: value)) }

    func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        encoding.innerElement().container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { encoding.innerElement().unkeyedContainer() }

    func superEncoder() -> any Encoder { encoding.innerElement() }
}

extension JSON: Encodable {
    /// Encodes the value with `JSONEncoding` only.
    package func encode(to encoder: any Encoder) throws {
        guard let encoding = encoder as? JSONEncoding else {
            throw EncodingError.invalidValue(self, EncodingError.Context(codingPath: [], debugDescription: "not JSON"))
        }
        encoding.single = self
    }
}

extension JSONObject: Encodable {
    package func encode(to encoder: any Encoder) throws {
        try JSON.object(self).encode(to: encoder)
    }
}
