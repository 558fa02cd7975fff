package import HandoffJSON
package import HandoffModel

/// A JSON object sent over a local socket: parameters, results, or the fields of an error.
package protocol ControlMessage: Equatable, Sendable {
    /// Decodes the object. Throws `invalidParameter` with the path of the first missing or invalid
    /// field.
    ///
    /// Null counts as absent, and unknown fields are ignored, so that both sides can have different
    /// versions.
    init(json: JSONObject) throws(VarlinkError)

    /// The object on the socket.
    var json: JSONObject { get }
}

/// A message whose stored properties are its fields, with the names, order and types of the
/// interface file. Properties are optional if the file has `?`.
package protocol ControlValue: ControlMessage, Codable {
    /// The encoding of nil fields. Replies contain every nullable field, so that a reader always
    /// finds the same keys.
    static var absent: NilEncoding { get }

    /// Checks rules that types do not express, such as limits and ranges. Throws
    /// `invalidParameter`. Called only for messages, not for nested values.
    func check() throws(VarlinkError)
}

/// Parameters: nil fields are omitted.
package protocol ControlRequest: ControlValue {}

extension ControlValue {
    package static var absent: NilEncoding { .null }

    package func check() throws(VarlinkError) {}

    package init(json: JSONObject) throws(VarlinkError) {
        do throws(JSONPath) {
            self = try json.decoded()
        } catch {
            throw .invalidParameter(error.path)
        }
        try check()
    }

    package var json: JSONObject {
        JSONObject(encoding: self, absent: Self.absent)
    }
}

extension ControlRequest {
    package static var absent: NilEncoding { .omitted }
}

/// A value that writes its fields itself instead of deriving them from its properties, which takes a
/// tenth to a fifth of the time. Used for the values of lists of up to a thousand, and of each
/// continuation. `InterfaceValueTests` compares the fields with the interface file.
package protocol DirectControlValue: ControlValue {}

extension DirectControlValue {
    /// Encodes ``json``, which is then the only place that writes the fields.
    package func encode(to encoder: any Encoder) throws { try json.encode(to: encoder) }
}

extension ControlMessage {
    /// The message as a field of another message.
    var field: JSON { .object(json) }
}

/// `Failure`, and the fields of `StreamFailed`.
extension HandoffFailure: ControlValue {}

/// The fields of `ContinuationFailed`.
package struct ContinuationFailure: ControlValue {
    package var code: Int
    package var reason: String
    package var message: String
    /// The newer state, with the reason `newerElsewhere`; otherwise nil.
    package var newer: NewerState?

    package init(_ failure: HandoffFailure) {
        code = failure.code
        reason = failure.reason
        message = failure.message
        newer = failure.newer
    }
}

/// `NewerState`.
extension NewerState: ControlValue {}

/// `Lineage`.
extension Lineage: ControlValue {}

extension JSONObject {
    /// Encodes an event: its name in `event`, then the fields in order.
    static func event(
        _ name: String, _ fields: KeyValuePairs<String, JSON?>, absent: NilEncoding = .null
    ) -> JSONObject {
        var members: [Element] = [("event", .string(name))]
        members.reserveCapacity(1 + fields.count)
        for (key, value) in fields {
            if let value { members.append((key, value)) } else if absent == .null { members.append((key, .null)) }
        }
        return JSONObject(distinct: members)
    }
}
