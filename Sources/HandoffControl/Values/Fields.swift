package import HandoffJSON
package import HandoffModel

/// Reads single fields by name, if they are few or depend on each other. Each failure is
/// `invalidParameter` with the path of the field. Other messages are `ControlValue`s, which follow
/// the same rules.
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

    /// An optional field of any type; nil if absent.
    package func optional<Value: Decodable>(
        _ key: String, as type: Value.Type = Value.self
    ) throws(VarlinkError) -> Value? {
        guard let json = object[key], !json.isNull else { return nil }
        do throws(JSONPath) {
            return try json.decoded(as: type)
        } catch {
            throw .invalidParameter(error.inside(key).path)
        }
    }

    /// A required field of any type.
    package func value<Value: Decodable>(
        _ key: String, as type: Value.Type = Value.self
    ) throws(VarlinkError) -> Value {
        guard let value = try optional(key, as: type) else { throw invalid(key) }
        return value
    }

    /// A nested message.
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
    /// A required string.
    package func text(_ key: String) throws(VarlinkError) -> String {
        guard let text = try optionalText(key) else { throw invalid(key) }
        return text
    }

    /// An optional string; nil if absent.
    package func optionalText(_ key: String) throws(VarlinkError) -> String? {
        switch object[key] {
        case nil, .some(.null): return nil
        case .some(.string(let text)): return text
        case .some: throw invalid(key)
        }
    }

    /// An optional list of strings; nil if absent.
    package func optionalTexts(_ key: String) throws(VarlinkError) -> [String]? { try optional(key) }

    /// A required Boolean.
    package func flag(_ key: String) throws(VarlinkError) -> Bool { try value(key) }

    /// An optional Boolean; nil if absent.
    package func optionalFlag(_ key: String) throws(VarlinkError) -> Bool? { try optional(key) }

    /// A required integer that fits `Int`.
    package func integer(_ key: String) throws(VarlinkError) -> Int { try value(key) }

    /// An optional integer; nil if absent.
    package func optionalInteger(_ key: String) throws(VarlinkError) -> Int64? { try optional(key) }

    /// A required activity type.
    package func type(_ key: String) throws(VarlinkError) -> ActivityType { try value(key) }
}
