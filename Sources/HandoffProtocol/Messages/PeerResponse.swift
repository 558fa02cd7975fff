package import HandoffJSON
package import HandoffModel

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
    private static let maximumReasonCount = 64
    private static let maximumMessageCount = 1024

    /// An answer.
    package init(id: Int64, outcome: Outcome) {
        self.id = id
        self.outcome = outcome
    }

    /// The body of the frame.
    package func encoded() -> [UInt8] {
        switch outcome {
        case .result(let result):
            return JSON.object(["id": .integer(id), "result": .object(result)]).encoded()
        case .failure(let failure):
            let error: JSONObject = [
                "code": .integer(Int64(failure.code)), "reason": .string(failure.reason),
                "message": .string(failure.message),
            ]
            return JSON.object(["id": .integer(id), "error": .object(error)]).encoded()
        }
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
            code: code, reason: try fields.text("reason", maximum: Self.maximumReasonCount),
            message: try fields.text("message", maximum: Self.maximumMessageCount))
    }
}
