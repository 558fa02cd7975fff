package import HandoffJSON
package import HandoffModel

/// Names of requests and notices between devices.
package enum PeerMethod {
    /// Request `{activity: hex}`: hand over an activity; answered with its payload.
    package static let continueActivity = "continue"

    /// Request `{}`: everything that is offered; answered with ``ActivityList``.
    package static let activities = "activities"

    /// Request `{activity: hex, resource: ?text}`: a stream of an activity that was continued, and what it is for; answered
    /// with `{ticket: hex}`.
    package static let openStream = "openStream"

    /// Notice `{activity: hex}`: an app here has taken the activity over.
    package static let wasContinued = "wasContinued"

    /// Notice `{activity: hex}`: the user here does not want the activity, which was sent to this device.
    package static let wasDeclined = "wasDeclined"
}

/// Something that one device asks of the other; answered by one ``PeerResponse`` with the same id.
package struct PeerRequest: Sendable, Equatable {
    /// Chosen by the asking side: 1 for its first request on the connection, one more for each.
    package let id: Int64

    /// What is asked, one of ``PeerMethod`` or unknown to this version.
    package let method: String

    /// What the method takes.
    package let parameters: JSONObject

    /// Longest method name that is accepted, in bytes.
    private static let maxMethodCount = 64

    /// A request.
    package init(id: Int64, method: String, parameters: JSONObject) {
        self.id = id
        self.method = method
        self.parameters = parameters
    }

    /// The body of the frame, with a reserved member if there is any.
    package func encoded(_ grease: Grease? = nil) -> [UInt8] {
        var object: JSONObject = ["id": .integer(id), "method": .string(method), "parameters": .object(parameters)]
        object.add(grease)
        return JSON.object(object).encoded()
    }

    /// Reads the body of a frame; unknown members are ignored.
    package init(decoding body: [UInt8]) throws(MessageError) {
        let fields = try MessageFields(parsing: body)
        let id = try fields.integer("id")
        guard id >= 1 else { throw .field("id") }
        self.init(
            id: id, method: try fields.text("method", maximum: Self.maxMethodCount),
            parameters: try fields.optionalObject("parameters") ?? [:])
    }
}

/// The answer to a ``PeerRequest``.
package struct PeerResponse: Sendable, Equatable {
    /// What became of the request.
    package enum Outcome: Sendable, Equatable {
        /// It was done; what the method gives.
        case result(JSONObject)

        /// It was refused or failed, and why.
        case failure(HandoffFailure)
    }

    /// Id of the request.
    package let id: Int64

    /// What became of it.
    package let outcome: Outcome

    /// Longest reason and message that are accepted, in bytes.
    private static let maxReasonCount = 64
    private static let maxMessageCount = 1024

    /// An answer.
    package init(id: Int64, outcome: Outcome) {
        self.id = id
        self.outcome = outcome
    }

    /// The body of the frame, with a reserved member if there is any.
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

    /// Reads the body of a frame, which has either `result` or `error`; unknown members are ignored.
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

/// Something that one device tells the other, without an answer.
package struct PeerNotice: Sendable, Equatable {
    /// What is told, one of ``PeerMethod`` or unknown to this version, then ignored.
    package let method: String

    /// What the method takes.
    package let parameters: JSONObject

    /// Longest method name that is accepted, in bytes.
    private static let maxMethodCount = 64

    /// A notice.
    package init(method: String, parameters: JSONObject) {
        self.method = method
        self.parameters = parameters
    }

    /// The body of the frame, with a reserved member if there is any.
    package func encoded(_ grease: Grease? = nil) -> [UInt8] {
        var object: JSONObject = ["method": .string(method), "parameters": .object(parameters)]
        object.add(grease)
        return JSON.object(object).encoded()
    }

    /// Reads the body of a frame; unknown members are ignored.
    package init(decoding body: [UInt8]) throws(MessageError) {
        let fields = try MessageFields(parsing: body)
        self.init(
            method: try fields.text("method", maximum: Self.maxMethodCount),
            parameters: try fields.optionalObject("parameters") ?? [:])
    }
}
