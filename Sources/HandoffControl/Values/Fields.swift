package import HandoffJSON
package import HandoffModel

/// Reads parameters by name: each failure is `invalidParameter` with the path of the field.
///
/// A null is an absent field, and unknown fields are ignored, so that both sides can be of different age.
package struct Fields: Sendable {
    private let object: JSONObject
    private let path: String

    /// The fields of the parameters themselves, or of an object inside them that has this path.
    package init(_ object: JSONObject, path: String = "") {
        self.object = object
        self.path = path
    }

    /// The error for a field of this object.
    package func invalid(_ key: String) -> VarlinkError {
        .invalidParameter(path.isEmpty ? key : "\(path).\(key)")
    }

    private func value(_ key: String) -> JSON? {
        guard let value = object[key], !value.isNull else { return nil }
        return value
    }

    private func required<Value>(_ key: String, _ value: Value?) throws(VarlinkError) -> Value {
        guard let value else { throw invalid(key) }
        return value
    }
}

// MARK: - Fields that may be absent

extension Fields {
    /// A text, or nil when it is absent.
    package func optionalText(_ key: String) throws(VarlinkError) -> String? {
        guard let value = value(key) else { return nil }
        return try required(key, value.string)
    }

    /// A Boolean, or nil when it is absent.
    package func optionalFlag(_ key: String) throws(VarlinkError) -> Bool? {
        guard let value = value(key) else { return nil }
        return try required(key, value.bool)
    }

    /// An integer, or nil when it is absent.
    package func optionalInteger(_ key: String) throws(VarlinkError) -> Int64? {
        guard let value = value(key) else { return nil }
        return try required(key, value.integer)
    }

    /// A number that may be written without a fraction, or nil when it is absent.
    package func optionalNumber(_ key: String) throws(VarlinkError) -> Double? {
        guard let value = value(key) else { return nil }
        return try required(key, value.number)
    }

    /// An object of any content, or nil when it is absent.
    package func optionalObject(_ key: String) throws(VarlinkError) -> JSONObject? {
        guard let value = value(key) else { return nil }
        return try required(key, value.object)
    }

    /// An object whose fields are to be read, or nil when it is absent.
    package func optionalFields(_ key: String) throws(VarlinkError) -> Fields? {
        try optionalObject(key).map { Fields($0, path: path.isEmpty ? key : "\(path).\(key)") }
    }

    /// What a stream is for, or nil when it is absent.
    package func optionalResource(_ key: String) throws(VarlinkError) -> StreamResource? {
        guard let value = value(key) else { return nil }
        return try required(key, value.string.flatMap(StreamResource.init))
    }

    /// A list of texts, or nil when it is absent.
    package func optionalTexts(_ key: String) throws(VarlinkError) -> [String]? {
        guard let value = value(key) else { return nil }
        let elements = try required(key, value.array)
        var texts: [String] = []
        texts.reserveCapacity(elements.count)
        for (position, element) in elements.enumerated() {
            texts.append(try required("\(key)[\(position)]", element.string))
        }
        return texts
    }
}

// MARK: - Fields that must be there

extension Fields {
    /// A text.
    package func text(_ key: String) throws(VarlinkError) -> String {
        try required(key, value(key)?.string)
    }

    /// A Boolean.
    package func flag(_ key: String) throws(VarlinkError) -> Bool {
        try required(key, value(key)?.bool)
    }

    /// An integer that `Int` holds.
    package func integer(_ key: String) throws(VarlinkError) -> Int {
        try required(key, value(key)?.integer.flatMap { Int(exactly: $0) })
    }

    /// A number that may be written without a fraction.
    package func number(_ key: String) throws(VarlinkError) -> Double {
        try required(key, value(key)?.number)
    }

    /// An object of any content.
    package func object(_ key: String) throws(VarlinkError) -> JSONObject {
        try required(key, value(key)?.object)
    }

    /// An object whose fields are to be read.
    package func fields(_ key: String) throws(VarlinkError) -> Fields {
        try required(key, try optionalFields(key))
    }

    /// A list of texts.
    package func texts(_ key: String) throws(VarlinkError) -> [String] {
        try required(key, try optionalTexts(key))
    }

    /// A list of objects whose fields are to be read, or nil when it is absent.
    package func optionalList(_ key: String) throws(VarlinkError) -> [Fields]? {
        value(key) == nil ? nil : try list(key)
    }

    /// A list of objects whose fields are to be read.
    package func list(_ key: String) throws(VarlinkError) -> [Fields] {
        let elements = try required(key, value(key)?.array)
        var list: [Fields] = []
        list.reserveCapacity(elements.count)
        for (position, element) in elements.enumerated() {
            let place = "\(key)[\(position)]"
            let object = try required(place, element.object)
            list.append(Fields(object, path: path.isEmpty ? place : "\(path).\(place)"))
        }
        return list
    }

    /// An activity type.
    package func type(_ key: String) throws(VarlinkError) -> ActivityType {
        try required(key, value(key)?.string.flatMap(ActivityType.init))
    }

    /// An identifier in hexadecimal, with or without groups.
    package func id<ID: FixedBytes>(_ key: String, as type: ID.Type = ID.self) throws(VarlinkError) -> ID {
        try required(key, value(key)?.string.flatMap { ID(hex: $0) })
    }

    /// An identifier in hexadecimal, or nil when it is absent.
    package func optionalID<ID: FixedBytes>(_ key: String, as type: ID.Type = ID.self) throws(VarlinkError) -> ID? {
        guard let value = value(key) else { return nil }
        return try required(key, value.string.flatMap { ID(hex: $0) })
    }

    /// A list of identifiers in hexadecimal.
    package func ids<ID: FixedBytes>(_ key: String, as type: ID.Type = ID.self) throws(VarlinkError) -> [ID] {
        var ids: [ID] = []
        for (position, text) in try texts(key).enumerated() {
            ids.append(try required("\(key)[\(position)]", ID(hex: text)))
        }
        return ids
    }

    /// The kind of a device; the name of a kind that this version does not know is `other`.
    package func kind(_ key: String) throws(VarlinkError) -> DeviceKind {
        DeviceKind(name: try text(key)) ?? .other
    }
}

extension JSON {
    /// A text, or null: replies name every nullable field, so that a reader finds the same keys each time.
    static func nullable(_ text: String?) -> JSON {
        text.map(JSON.string) ?? .null
    }

    /// An object, or null.
    static func nullable(_ object: JSONObject?) -> JSON {
        object.map(JSON.object) ?? .null
    }

    /// A list of texts.
    static func texts(_ texts: [String]) -> JSON {
        .array(texts.map(JSON.string))
    }
}

extension HandoffFailure {
    /// Reads `Failure`, or the fields of `ContinuationFailed`; throws `invalidParameter`.
    package init(_ fields: Fields) throws(VarlinkError) {
        self.init(
            code: try fields.integer("code"), reason: try fields.text("reason"), message: try fields.text("message"))
    }

    /// The object on the socket: `Failure`, and the fields of `ContinuationFailed`.
    package var json: JSONObject {
        ["code": .integer(Int64(code)), "reason": .string(reason), "message": .string(message)]
    }
}
