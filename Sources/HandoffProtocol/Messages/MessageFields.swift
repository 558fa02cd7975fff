import HandoffJSON
import HandoffModel

/// Reads the members of a message and reports any problem as one error type.
struct MessageFields {
    private let object: JSONObject

    init(_ object: JSONObject) {
        self.object = object
    }

    /// Parses the body of a frame. The size limit is the frame's. `JSONLimits` limits depth and
    /// members.
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

    /// Returns a required text of at most `maximum` bytes.
    func text(_ key: String, maximum: Int) throws(MessageError) -> String {
        guard let text = try optionalText(key, maximum: maximum) else { throw .field(key) }
        return text
    }

    /// Returns a text of at most `maximum` bytes, or nil if it is missing or null.
    func optionalText(_ key: String, maximum: Int) throws(MessageError) -> String? {
        guard let value = value(key) else { return nil }
        guard let text = value.string, text.utf8.count <= maximum else { throw .field(key) }
        return text
    }

    /// Returns exactly `count` bytes in hexadecimal without separators, or nil if they are missing
    /// or null.
    func optionalHex(_ key: String, bytes count: Int) throws(MessageError) -> [UInt8]? {
        guard let text = try optionalText(key, maximum: 2 * count) else { return nil }
        guard text.utf8.count == 2 * count, let bytes = Hex.decode(text), bytes.count == count else {
            throw .field(key)
        }
        return bytes
    }

    /// Returns a list of at most `maximum` texts of 1 to `maxLength` bytes; empty if it is missing
    /// or null.
    func texts(_ key: String, maximum: Int, maxLength: Int) throws(MessageError) -> [String] {
        guard let value = value(key) else { return [] }
        let texts = value.array?.compactMap(\.string).filter { (1...maxLength).contains($0.utf8.count) }
        guard let texts, texts.count == value.array?.count, texts.count <= maximum else { throw .field(key) }
        return texts
    }

    /// Returns a required integer.
    func integer(_ key: String) throws(MessageError) -> Int64 {
        guard let integer = try optionalInteger(key) else { throw .field(key) }
        return integer
    }

    /// Returns an integer, or nil if it is missing or null.
    func optionalInteger(_ key: String) throws(MessageError) -> Int64? {
        guard let value = value(key) else { return nil }
        guard let integer = value.integer else { throw .field(key) }
        return integer
    }

    /// Returns an unsigned 64-bit number, or nil if it is missing or null. It is sent as a JSON
    /// integer and thus at most 2^63 - 1.
    func optionalCounter(_ key: String) throws(MessageError) -> UInt64? {
        guard let integer = try optionalInteger(key) else { return nil }
        guard let counter = UInt64(exactly: integer) else { throw .field(key) }
        return counter
    }

    /// Returns a Boolean; false if it is missing or null.
    func flag(_ key: String) throws(MessageError) -> Bool {
        guard let value = value(key) else { return false }
        guard let flag = value.bool else { throw .field(key) }
        return flag
    }

    /// Returns an object, or nil if it is missing or null.
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

/// The reason why the JSON body of a frame is not a valid message. Each error ends the connection,
/// because the peer is authenticated and faulty.
package enum MessageError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The body is not a JSON object within the limits.
    case json(String)

    /// The named member is missing or invalid.
    case field(String)

    /// A lower-case sentence fragment for logs.
    package var description: String {
        switch self {
        case .json(let cause): "invalid JSON in a message: \(cause)"
        case .field(let name): "member \(name) of a message is missing or invalid"
        }
    }
}
