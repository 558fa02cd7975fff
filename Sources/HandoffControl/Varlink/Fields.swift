package import HandoffJSON

/// Reads single parameters by name, if they are few or depend on each other. Other messages are
/// `ControlValue`s, which follow the same rules.
package typealias Fields = JSONFields<VarlinkError>

extension JSONFields where Failure == VarlinkError {
    /// The fields of parameters or results. Each failure is `invalidParameter`.
    package init(_ object: JSONObject) {
        self.init(object) { path, _ in .invalidParameter(path) }
    }

    /// The members of the outermost object of a message without its NUL. A key outside `keys` is an
    /// error, as in sd-varlink. Each failure is `malformed`.
    init(envelope bytes: [UInt8], keys: [String]) throws(VarlinkError) {
        let message: JSON
        do throws(JSONError) {
            message = try JSON(parsing: bytes, limits: JSONLimits(bytes: VarlinkFramer.maxMessage))
        } catch {
            throw .unreadable(error.description)
        }
        guard case .object(let object) = message else { throw .malformed("not an object") }
        for (key, _) in object where !keys.contains(where: { key.hasSameBytes(as: $0) }) {
            throw .malformed("unknown top-level key")
        }
        self.init(object) { key, expected in .malformed("'\(key)' is not \(expected)") }
    }

    /// Returns a nested message.
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
