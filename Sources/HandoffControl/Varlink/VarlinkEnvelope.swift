import HandoffJSON

/// The outermost object of a message. Checks its keys strictly, as sd-varlink does.
struct VarlinkEnvelope {
    private let object: JSONObject

    /// Decodes one message without its NUL. A key outside `keys` is an error.
    init(decoding bytes: [UInt8], keys: [String]) throws(VarlinkError) {
        do {
            let limits = JSONLimits(bytes: VarlinkFramer.maxMessage)
            guard case .object(let object) = try JSON(parsing: bytes, limits: limits) else {
                throw VarlinkError.malformed("not an object")
            }
            self.object = object
        } catch let error as JSONError {
            throw .unreadable(error.description)
        } catch {
            throw .malformed("not an object")
        }
        for (key, _) in object where !keys.contains(where: { key.hasSameBytes(as: $0) }) {
            throw .malformed("unknown top-level key")
        }
    }

    /// A string, or nil if it is absent or null.
    func text(_ key: String) throws(VarlinkError) -> String? {
        switch object[key] {
        case nil, .some(.null): return nil
        case .some(.string(let text)): return text
        case .some: throw .malformed("'\(key)' is not a string")
        }
    }

    /// A flag, or false if it is absent or null.
    func flag(_ key: String) throws(VarlinkError) -> Bool {
        switch object[key] {
        case nil, .some(.null): return false
        case .some(.bool(let flag)): return flag
        case .some: throw .malformed("'\(key)' is not a Boolean")
        }
    }

    /// The parameters, empty if they are absent or null.
    func parameters() throws(VarlinkError) -> JSONObject {
        switch object["parameters"] {
        case nil, .some(.null): return [:]
        case .some(.object(let parameters)): return parameters
        case .some: throw .malformed("'parameters' is not an object")
        }
    }
}
