package import HandoffJSON
package import HandoffModel

/// Reads single fields by name, where they are few or depend on each other: each failure is `invalidParameter` with the
/// path of the field. Otherwise they are a `ControlValue`, and are read by the same rules.
package struct Fields: Sendable {
    private let object: JSONObject

    /// The fields of parameters or results.
    package init(_ object: JSONObject) {
        self.object = object
    }

    /// The error for a field.
    package func invalid(_ key: String) -> VarlinkError {
        .invalidParameter(key)
    }

    /// A field of any type, or nil when it is absent.
    package func optional<Value: Decodable>(
        _ key: String, as type: Value.Type = Value.self
    ) throws(VarlinkError) -> Value? {
        guard let json = object[key], !json.isNull else { return nil }
        do throws(JSONPlace) {
            return try json.decoded(as: type)
        } catch {
            throw .invalidParameter(error.inside(key).path)
        }
    }

    /// A field of any type that must be there.
    package func value<Value: Decodable>(
        _ key: String, as type: Value.Type = Value.self
    ) throws(VarlinkError) -> Value {
        guard let value = try optional(key, as: type) else { throw invalid(key) }
        return value
    }

    /// A message inside of another one.
    package func message<Value: ControlMessage>(_ key: String) throws(VarlinkError) -> Value {
        let object: JSONObject = try value(key)
        do throws(VarlinkError) {
            return try Value(json: object)
        } catch {
            guard case .invalidParameter(let path) = error else { throw error }
            throw invalid("\(key).\(path)")
        }
    }
}

// The same for types that a caller does not name.
extension Fields {
    /// A text.
    package func text(_ key: String) throws(VarlinkError) -> String {
        guard let text = try optionalText(key) else { throw invalid(key) }
        return text
    }

    /// A text, or nil when it is absent.
    package func optionalText(_ key: String) throws(VarlinkError) -> String? {
        switch object[key] {
        case nil, .some(.null): return nil
        case .some(.string(let text)): return text
        case .some: throw invalid(key)
        }
    }

    /// A list of texts, or nil when it is absent.
    package func optionalTexts(_ key: String) throws(VarlinkError) -> [String]? { try optional(key) }

    /// A Boolean.
    package func flag(_ key: String) throws(VarlinkError) -> Bool { try value(key) }

    /// A Boolean, or nil when it is absent.
    package func optionalFlag(_ key: String) throws(VarlinkError) -> Bool? { try optional(key) }

    /// An integer that `Int` holds.
    package func integer(_ key: String) throws(VarlinkError) -> Int { try value(key) }

    /// An integer, or nil when it is absent.
    package func optionalInteger(_ key: String) throws(VarlinkError) -> Int64? { try optional(key) }

    /// An activity type.
    package func type(_ key: String) throws(VarlinkError) -> ActivityType { try value(key) }
}
