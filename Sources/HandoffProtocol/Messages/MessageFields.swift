import HandoffJSON
import HandoffModel

/// Reads the members of a message.
typealias MessageFields = JSONFields<MessageError>

extension JSONFields where Failure == MessageError {
    init(_ object: JSONObject) {
        self.init(object) { path, _ in .field(path) }
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
        self.init(object)
    }

    /// Returns exactly `count` bytes in hexadecimal without separators, or nil if they are missing.
    func optionalHex(_ key: String, bytes count: Int) throws(MessageError) -> [UInt8]? {
        guard let text = try optionalText(key, maximum: 2 * count) else { return nil }
        guard text.utf8.count == 2 * count, let bytes = Hex.decode(text), bytes.count == count else {
            throw .field(key)
        }
        return bytes
    }

    /// Returns an unsigned 64-bit number, or nil if it is missing. It is sent as a JSON integer and
    /// thus at most 2^63 - 1.
    func optionalCounter(_ key: String) throws(MessageError) -> UInt64? {
        guard let integer = try optionalInteger(key) else { return nil }
        guard let counter = UInt64(exactly: integer) else { throw .field(key) }
        return counter
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
