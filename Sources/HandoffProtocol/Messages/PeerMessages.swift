package import HandoffJSON
package import HandoffModel

/// The names of requests and notices between devices.
package enum PeerMethod {
    /// Request `{activity: hex}`: hand over an activity. The response is its payload.
    package static let continueActivity = "continue"

    /// Request `{}`: list all offers. The response is an ``ActivityList``.
    package static let activities = "activities"

    /// Request `{activity: hex, resource: ?text}`: open a stream of an activity that was continued,
    /// with its purpose. The response is `{ticket: hex}`.
    package static let openStream = "openStream"

    /// Request `{records: list, receivers: list of hex}`: keep the records of activities, which the
    /// sender also sends to these receivers. The response is empty. Sent only to a device that keeps
    /// activities, like the next two.
    package static let keep = "keep"

    /// Request `{}`: list the names of the kept records. The response is `{names: list of hex}`.
    package static let kept = "kept"

    /// Request `{names: list of hex}`: return kept records. The response is `{records: list}`, with
    /// as many as fit.
    package static let fetchKept = "fetchKept"

    /// Notice `{activity: hex}`: an app on the sending device continued the activity.
    package static let wasContinued = "wasContinued"

    /// Notice `{activity: hex}`: the user of the sending device declined the activity that was sent
    /// to it.
    package static let wasDeclined = "wasDeclined"
}

/// A request from one device to the other. One ``PeerResponse`` with the same id answers it.
package struct PeerRequest: Sendable, Equatable {
    /// The number chosen by the requesting side: 1 for its first request on the connection,
    /// incremented for each.
    package let id: Int64

    /// One of ``PeerMethod``, or a method unknown to this version.
    package let method: String

    package let parameters: JSONObject

    /// The maximum length of a method name, in bytes.
    private static let maxMethodCount = 64

    package init(id: Int64, method: String, parameters: JSONObject) {
        self.id = id
        self.method = method
        self.parameters = parameters
    }

    /// Returns the body of the frame, with a reserved member if there is any.
    package func encoded(_ grease: Grease? = nil) -> [UInt8] {
        var object: JSONObject = ["id": .integer(id), "method": .string(method), "parameters": .object(parameters)]
        object.add(grease)
        return JSON.object(object).encoded()
    }

    /// Decodes the body of a frame. Unknown members are ignored.
    package init(decoding body: [UInt8]) throws(MessageError) {
        let fields = try MessageFields(parsing: body)
        let id = try fields.integer("id")
        guard id >= 1 else { throw .field("id") }
        self.init(
            id: id, method: try fields.text("method", maximum: Self.maxMethodCount),
            parameters: try fields.optionalObject("parameters") ?? [:])
    }
}

/// The response to a ``PeerRequest``.
package struct PeerResponse: Sendable, Equatable {
    package enum Outcome: Sendable, Equatable {
        /// The request succeeded with the result of the method.
        case result(JSONObject)

        case failure(HandoffFailure)
    }

    package let id: Int64

    package let outcome: Outcome

    /// The maximum lengths of a reason and a message, in bytes.
    private static let maxReasonCount = 64
    private static let maxMessageCount = 1024

    package init(id: Int64, outcome: Outcome) {
        self.id = id
        self.outcome = outcome
    }

    /// Returns the body of the frame, with a reserved member if there is any.
    package func encoded(_ grease: Grease? = nil) -> [UInt8] {
        var object: JSONObject = ["id": .integer(id)]
        switch outcome {
        case .result(let result):
            object["result"] = .object(result)
        case .failure(let failure):
            object["error"] = .object([
                "code": .integer(Int64(failure.code)), "reason": .string(failure.reason),
                "message": .string(failure.message),
            ])
        }
        object.add(grease)
        return JSON.object(object).encoded()
    }

    /// Decodes the body of a frame, which has either `result` or `error`. Unknown members are
    /// ignored.
    package init(decoding body: [UInt8]) throws(MessageError) {
        let fields = try MessageFields(parsing: body)
        let id = try fields.integer("id")
        switch (try fields.optionalObject("result"), try fields.optionalObject("error")) {
        case (let result?, nil): self.init(id: id, outcome: .result(result))
        case (nil, let error?): self.init(id: id, outcome: .failure(try Self.failure(MessageFields(error))))
        case (nil, nil), (_?, _?): throw .field("result")
        }
    }

    private static func failure(_ fields: MessageFields) throws(MessageError) -> HandoffFailure {
        guard let code = Int(exactly: try fields.integer("code")) else { throw .field("code") }
        return HandoffFailure(
            code: code, reason: try fields.text("reason", maximum: Self.maxReasonCount),
            message: try fields.text("message", maximum: Self.maxMessageCount))
    }
}

/// A message from one device to the other that has no response.
package struct PeerNotice: Sendable, Equatable {
    /// One of ``PeerMethod``, or a method unknown to this version, which is ignored.
    package let method: String

    package let parameters: JSONObject

    /// The maximum length of a method name, in bytes.
    private static let maxMethodCount = 64

    package init(method: String, parameters: JSONObject) {
        self.method = method
        self.parameters = parameters
    }

    /// Returns the body of the frame, with a reserved member if there is any.
    package func encoded(_ grease: Grease? = nil) -> [UInt8] {
        var object: JSONObject = ["method": .string(method), "parameters": .object(parameters)]
        object.add(grease)
        return JSON.object(object).encoded()
    }

    /// Decodes the body of a frame. Unknown members are ignored.
    package init(decoding body: [UInt8]) throws(MessageError) {
        let fields = try MessageFields(parsing: body)
        self.init(
            method: try fields.text("method", maximum: Self.maxMethodCount),
            parameters: try fields.optionalObject("parameters") ?? [:])
    }
}
