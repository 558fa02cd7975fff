import HandoffJSON
import HandoffModel

/// Reads the members of a message with one error for all that may be wrong with them.
struct MessageFields {
    private let object: JSONObject

    /// Reads from a message that is parsed already.
    init(_ object: JSONObject) {
        self.object = object
    }

    /// Parses the body of a frame; its cap is the frame's, depth and members are those of `JSONLimits`.
    init(parsing body: [UInt8]) throws(MessageError) {
        let value: JSON
        do {
            value = try JSON(parsing: body, limits: JSONLimits(bytes: body.count))
        } catch {
            throw .json(String(describing: error))
        }
        guard let object = value.object else { throw .json("not an object") }
        self.object = object
    }

    /// A text that must be there, of at most `maximum` bytes.
    func text(_ key: String, maximum: Int) throws(MessageError) -> String {
        guard let text = try optionalText(key, maximum: maximum) else { throw .field(key) }
        return text
    }

    /// A text of at most `maximum` bytes; nil when it is missing or null.
    func optionalText(_ key: String, maximum: Int) throws(MessageError) -> String? {
        guard let value = value(key) else { return nil }
        guard let text = value.string, text.utf8.count <= maximum else { throw .field(key) }
        return text
    }

    /// So many bytes in hexadecimal digits and nothing else; nil when they are missing or null.
    func optionalHex(_ key: String, bytes count: Int) throws(MessageError) -> [UInt8]? {
        guard let text = try optionalText(key, maximum: 2 * count) else { return nil }
        guard text.utf8.count == 2 * count, let bytes = Hex.decode(text), bytes.count == count else {
            throw .field(key)
        }
        return bytes
    }

    /// A list of at most `maximum` texts of 1 to `longest` bytes; none when it is missing or null.
    func texts(_ key: String, maximum: Int, longest: Int) throws(MessageError) -> [String] {
        guard let value = value(key) else { return [] }
        let texts = value.array?.compactMap(\.string).filter { (1...longest).contains($0.utf8.count) }
        guard let texts, texts.count == value.array?.count, texts.count <= maximum else { throw .field(key) }
        return texts
    }

    /// An integer that must be there.
    func integer(_ key: String) throws(MessageError) -> Int64 {
        guard let integer = try optionalInteger(key) else { throw .field(key) }
        return integer
    }

    /// An integer; nil when it is missing or null.
    func optionalInteger(_ key: String) throws(MessageError) -> Int64? {
        guard let value = value(key) else { return nil }
        guard let integer = value.integer else { throw .field(key) }
        return integer
    }

    /// An unsigned 64-bit number, sent as a JSON integer and thus at most 2^63 - 1; nil when missing or null.
    func optionalCounter(_ key: String) throws(MessageError) -> UInt64? {
        guard let integer = try optionalInteger(key) else { return nil }
        guard let counter = UInt64(exactly: integer) else { throw .field(key) }
        return counter
    }

    /// A truth value; false when it is missing or null.
    func flag(_ key: String) throws(MessageError) -> Bool {
        guard let value = value(key) else { return false }
        guard let flag = value.bool else { throw .field(key) }
        return flag
    }

    /// An object; nil when it is missing or null.
    func optionalObject(_ key: String) throws(MessageError) -> JSONObject? {
        guard let value = value(key) else { return nil }
        guard let object = value.object else { throw .field(key) }
        return object
    }

    private func value(_ key: String) -> JSON? {
        guard let value = object[key], !value.isNull else { return nil }
        return value
    }
}

/// Why the JSON body of a frame is no message; each ends the connection, as the peer is authenticated and broken.
package enum MessageError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The body is no JSON object within the limits.
    case json(String)

    /// The named member is missing, or is not what its message says.
    case field(String)

    /// A lower-case fragment for logs.
    package var description: String {
        switch self {
        case .json(let cause): "message is not usable JSON: \(cause)"
        case .field(let name): "member \(name) of a message is missing or wrong"
        }
    }
}
