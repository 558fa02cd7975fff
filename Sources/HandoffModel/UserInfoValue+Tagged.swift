package import HandoffJSON

extension UserInfoValue {
    /// Reads the tagged form. Throws `invalid` with the path of the first error.
    ///
    /// It also accepts integers after `$date` and `$double`, because other languages write 0.0 as
    /// an integer.
    package init(tagged: JSON) throws(ActivityError) {
        try UserInfo.validate(value: tagged)
        self = try Self.read(tagged)
    }

    /// Returns the tagged form. A value that Foundation cannot produce (a non-finite date, a
    /// duplicate key, nesting beyond the limits) is written in a form that `UserInfo.validate`
    /// rejects.
    package func tagged() -> JSON {
        switch self {
        case .null: .null
        case .bool(let value): .bool(value)
        case .integer(let value): .integer(value)
        case .unsigned(let value):
            Int64(exactly: value).map(JSON.integer) ?? Self.object(.uint, .string(value.description))
        case .double(let value):
            value.isFinite
                ? .real(value) : Self.object(.double, .string(value.isNaN ? "nan" : value < 0 ? "-inf" : "inf"))
        case .string(let value): .string(value)
        case .data(let value): Self.object(.data, .string(Base64.encode(value)))
        case .date(let value): Self.object(.date, .real(value))
        case .url(let value): Self.object(.url, .string(value))
        case .uuid(let value): Self.object(.uuid, .string(UUIDText.encode(value)))
        case .array(let elements): .array(elements.map { $0.tagged() })
        case .set(let elements): Self.object(.set, .array(elements.map { $0.tagged() }))
        case .dictionary(let members): Self.tagged(members)
        }
    }

    private static func object(_ tag: UserInfoTag, _ value: JSON) -> JSON {
        .object([tag.rawValue: value])
    }

    private static func tagged(_ members: [(key: UserInfoValue, value: UserInfoValue)]) -> JSON {
        if let plain = plainObject(members) { return .object(plain) }
        return object(.dict, .array(members.map { .array([$0.key.tagged(), $0.value.tagged()]) }))
    }

    /// Returns the members as a plain object, or nil if the object would be read as something else.
    private static func plainObject(_ members: [(key: UserInfoValue, value: UserInfoValue)]) -> JSONObject? {
        var texts: [(String, UserInfoValue)] = []
        texts.reserveCapacity(members.count)
        for (key, value) in members {
            // Strings may contain NUL, but the parser rejects it in keys.
            guard case .string(let text) = key, !text.utf8.contains(0) else { return nil }
            texts.append((text, value))
        }
        if texts.count == 1, UserInfoTag.isTagLike(texts[0].0) { return nil }
        let object = JSONObject(texts.lazy.map { ($0.0, $0.1.tagged()) })
        return object.count == members.count ? object : nil
    }

    /// Reads a value that `UserInfo.validate` has accepted. It still throws instead of trusting it.
    private static func read(_ json: JSON) throws(ActivityError) -> UserInfoValue {
        switch json {
        case .null: return .null
        case .bool(let value): return .bool(value)
        case .integer(let value): return .integer(value)
        case .real(let value): return .double(value)
        case .string(let value): return .string(value)
        case .array(let elements): return .array(try readAll(elements))
        case .object(let object):
            if object.count == 1, let (key, value) = object.first, UserInfoTag.isTagLike(key) {
                return try read(tag: key, value)
            }
            var members: [(key: UserInfoValue, value: UserInfoValue)] = []
            members.reserveCapacity(object.count)
            for (key, value) in object { members.append((.string(key), try read(value))) }
            return .dictionary(members)
        }
    }

    private static func readAll(_ elements: [JSON]) throws(ActivityError) -> [UserInfoValue] {
        var values: [UserInfoValue] = []
        values.reserveCapacity(elements.count)
        for element in elements { values.append(try read(element)) }
        return values
    }

    private static func read(tag key: String, _ json: JSON) throws(ActivityError) -> UserInfoValue {
        switch (UserInfoTag(key: key), json) {
        case (.data, .string(let text)):
            if let bytes = Base64.decode(text) { return .data(bytes) }
        case (.date, .real(let seconds)): return .date(seconds)
        case (.date, .integer(let seconds)): return .date(Double(seconds))
        case (.url, .string(let text)): return .url(text)
        case (.uuid, .string(let text)):
            if let bytes = UUIDText.decode(text) { return .uuid(bytes) }
        case (.set, .array(let elements)): return .set(try readAll(elements))
        case (.double, .real(let value)): return .double(value)
        case (.double, .integer(let value)): return .double(Double(value))
        case (.double, .string("nan")): return .double(.nan)
        case (.double, .string("inf")): return .double(.infinity)
        case (.double, .string("-inf")): return .double(-.infinity)
        case (.uint, .string(let text)):
            if let value = UInt64(text) { return .unsigned(value) }
        case (.dict, .array(let pairs)):
            var members: [(key: UserInfoValue, value: UserInfoValue)] = []
            members.reserveCapacity(pairs.count)
            for case .array(let pair) in pairs where pair.count == 2 {
                members.append((try read(pair[0]), try read(pair[1])))
            }
            return .dictionary(members)
        default: break
        }
        throw .invalid(field: "userInfo.\(VisibleText.escape(key))", message: "not a value of this type")
    }
}

/// The `$` keys of the tagged form, which preserves `userInfo` types that JSON lacks.
///
/// An object is tagged if it has exactly one member and its key starts with `$`.
enum UserInfoTag: String {
    /// Bytes in Base64.
    case data = "$data"
    /// Seconds since 2001-01-01 UTC.
    case date = "$date"
    case url = "$url"
    case uuid = "$uuid"
    /// The elements of a set, each once.
    case set = "$set"
    /// `nan`, `inf` or `-inf`, which JSON numbers cannot represent; or a real that a language
    /// writes as an integer.
    case double = "$double"
    /// The decimal text of an integer above `Int64.max`.
    case uint = "$uint"
    /// Pairs of keys and values, where a plain object is not sufficient.
    case dict = "$dict"

    /// The tag of a key, or nil if it is unknown. Keys are compared as bytes; for ASCII, `==` does
    /// this.
    init?(key: String) {
        self.init(rawValue: key)
    }

    /// Returns whether an object with `key` as its only key is tagged.
    static func isTagLike(_ key: String) -> Bool {
        key.utf8.first == UInt8(ascii: "$")
    }
}
