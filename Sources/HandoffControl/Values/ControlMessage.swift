package import HandoffJSON
package import HandoffModel

/// What crosses a local socket as a JSON object: parameters, results, or the fields of an error.
package protocol ControlMessage: Equatable, Sendable {
    /// Reads the object; throws `invalidParameter`, with the path of the first field that is missing or wrong.
    ///
    /// A null is an absent field, and unknown fields are ignored, so that both sides can be of different age.
    init(json: JSONObject) throws(VarlinkError)

    /// The object on the socket.
    var json: JSONObject { get }
}

/// A message whose stored properties are its fields: the names, the order and the kinds of the interface file, and
/// optional where that says `?`.
package protocol ControlValue: ControlMessage, Codable {
    /// What becomes of fields that are nil. Replies name every nullable field, so that a reader finds the same keys each
    /// time.
    static var absent: JSONNil { get }

    /// Checks what no type says, such as limits and ranges; throws `invalidParameter`. Only for messages, not for values
    /// inside of others.
    func check() throws(VarlinkError)
}

/// Parameters: what is nil is left out.
package protocol ControlRequest: ControlValue {}

extension ControlValue {
    package static var absent: JSONNil { .null }

    package func check() throws(VarlinkError) {}

    package init(json: JSONObject) throws(VarlinkError) {
        do throws(JSONPlace) {
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
    package static var absent: JSONNil { .leftOut }
}

extension ControlMessage {
    /// The message as a field of another one.
    var field: JSON { .object(json) }
}

/// `Failure`, and the fields of `ContinuationFailed`.
extension HandoffFailure: ControlValue {}

extension JSONObject {
    /// What an event is written as: its name in `event`, and fields in this order.
    static func event(
        _ name: String, _ fields: KeyValuePairs<String, JSON?>, absent: JSONNil = .null
    ) -> JSONObject {
        var members: [Element] = [("event", .string(name))]
        members.reserveCapacity(1 + fields.count)
        for (key, value) in fields {
            if let value { members.append((key, value)) } else if absent == .null { members.append((key, .null)) }
        }
        return JSONObject(distinct: members)
    }
}
