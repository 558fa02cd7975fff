import Foundation
import HandoffModel

/// Encodes an app's value as a `userInfo` value, with members under their coding keys, and `Data`,
/// `Date`, `URL` and `UUID` as themselves. The result equals one that an app would write key by
/// key.
struct UserInfoEncoder: Encoder {
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }
    private let place: EncodedPlace

    private init(_ place: EncodedPlace, _ codingPath: [any CodingKey]) {
        self.place = place
        self.codingPath = codingPath
    }

    /// Encodes a value.
    /// - Returns: nil if the value encoded nothing.
    /// - Throws: any error that the value throws.
    static func encode(_ value: some Encodable) throws -> UserInfoValue? {
        let place = EncodedPlace()
        try encode(value, at: place, [])
        return place.value
    }

    fileprivate static func encode(_ value: some Encodable, at place: EncodedPlace, _ path: [any CodingKey]) throws {
        switch value {
        case let value as Data: place.content = .value(.data(Array(value)))
        case let value as Date: place.content = .value(.date(value.timeIntervalSinceReferenceDate))
        case let value as URL: place.content = .value(.url(value.absoluteString))
        case let value as UUID: place.content = .value(.uuid(withUnsafeBytes(of: value.uuid) { Array($0) }))
        default: try value.encode(to: UserInfoEncoder(place, path))
        }
    }

    fileprivate static func encoder(_ place: EncodedPlace, _ path: [any CodingKey]) -> UserInfoEncoder {
        UserInfoEncoder(place, path)
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        place.beginMembers()
        return KeyedEncodingContainer(Members(place: place, codingPath: codingPath))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        place.beginElements()
        return Elements(place: place, codingPath: codingPath)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        Single(place: place, codingPath: codingPath)
    }
}

/// The storage for a value during encoding.
private final class EncodedPlace {
    enum Content {
        case nothing
        case value(UserInfoValue)
        case members([(name: String, place: EncodedPlace)])
        case elements([EncodedPlace])
    }

    var content = Content.nothing

    /// The encoded value; nil if nothing was encoded.
    var value: UserInfoValue? {
        switch content {
        case .nothing: nil
        case .value(let value): value
        case .members(let members):
            .dictionary(members.compactMap { member in member.place.value.map { (.string(member.name), $0) } })
        case .elements(let elements): .array(elements.compactMap(\.value))
        }
    }

    /// Turns the storage into members. Existing members stay because a class and its superclass may
    /// share the storage.
    func beginMembers() {
        if case .members = content { return }
        content = .members([])
    }

    /// Turns the storage into elements. Existing elements stay.
    func beginElements() {
        if case .elements = content { return }
        content = .elements([])
    }

    /// Returns the storage for a member. It replaces an existing member of the same name.
    func member(_ name: String) -> EncodedPlace {
        let place = EncodedPlace()
        if case .members(let members) = content {
            content = .members(members.filter { $0.name != name } + [(name, place)])
        }
        return place
    }

    func element() -> EncodedPlace {
        let place = EncodedPlace()
        if case .elements(let elements) = content { content = .elements(elements + [place]) }
        return place
    }

    var count: Int {
        if case .elements(let elements) = content { elements.count } else { 0 }
    }
}

/// Encodes a single value. The keyed and unkeyed containers use it for each of their values.
private struct Single: SingleValueEncodingContainer {
    let place: EncodedPlace
    let codingPath: [any CodingKey]

    func encodeNil() { place.content = .value(.null) }
    func encode(_ value: Bool) { place.content = .value(.bool(value)) }
    func encode(_ value: String) { place.content = .value(.string(value)) }
    func encode(_ value: Double) { place.content = .value(.double(value)) }
    func encode(_ value: Float) { place.content = .value(.double(Double(value))) }
    func encode(_ value: Int) { encode(integer: value) }
    func encode(_ value: Int8) { encode(integer: value) }
    func encode(_ value: Int16) { encode(integer: value) }
    func encode(_ value: Int32) { encode(integer: value) }
    func encode(_ value: Int64) { encode(integer: value) }
    func encode(_ value: UInt) { encode(integer: value) }
    func encode(_ value: UInt8) { encode(integer: value) }
    func encode(_ value: UInt16) { encode(integer: value) }
    func encode(_ value: UInt32) { encode(integer: value) }
    func encode(_ value: UInt64) { encode(integer: value) }
    func encode(_ value: some Encodable) throws { try UserInfoEncoder.encode(value, at: place, codingPath) }

    private func encode(integer value: some FixedWidthInteger) {
        place.content = .value(Int64(exactly: value).map(UserInfoValue.integer) ?? .unsigned(UInt64(clamping: value)))
    }
}

private struct Members<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let place: EncodedPlace
    let codingPath: [any CodingKey]

    func encodeNil(forKey key: Key) { single(key).encodeNil() }

    func encode(_ value: some Encodable, forKey key: Key) throws { try single(key).encode(value) }

    func nestedContainer<Nested: CodingKey>(
        keyedBy keyType: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        superEncoder(forKey: key).container(keyedBy: keyType)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        superEncoder(forKey: key).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { UserInfoEncoder.encoder(place.member("super"), codingPath) }

    func superEncoder(forKey key: Key) -> any Encoder {
        UserInfoEncoder.encoder(place.member(key.stringValue), codingPath + [key])
    }

    private func single(_ key: Key) -> Single {
        Single(place: place.member(key.stringValue), codingPath: codingPath + [key])
    }
}

private struct Elements: UnkeyedEncodingContainer {
    let place: EncodedPlace
    let codingPath: [any CodingKey]

    var count: Int { place.count }

    func encodeNil() { single.encodeNil() }

    func encode(_ value: some Encodable) throws { try single.encode(value) }

    func nestedContainer<Nested: CodingKey>(keyedBy keyType: Nested.Type) -> KeyedEncodingContainer<Nested> {
        superEncoder().container(keyedBy: keyType)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { superEncoder().unkeyedContainer() }

    func superEncoder() -> any Encoder { UserInfoEncoder.encoder(place.element(), codingPath) }

    private var single: Single { Single(place: place.element(), codingPath: codingPath) }
}
