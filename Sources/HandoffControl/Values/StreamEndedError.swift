package import HandoffJSON

/// The fields of the error `StreamEnded`: the stream was over before all of a passed file had moved.
package struct StreamEndedError: Sendable, Equatable {
    /// Bytes that had moved.
    package var moved: Int
    /// How the stream ended.
    package var outcome: StreamOutcome
    /// Why, as a fragment for people.
    package var message: String

    /// An error with these fields.
    package init(moved: Int, outcome: StreamOutcome, message: String) {
        self.moved = moved
        self.outcome = outcome
        self.message = message
    }

    /// Reads the fields; throws `invalidParameter`.
    package init(json: JSONObject) throws(VarlinkError) {
        let fields = Fields(json)
        guard let outcome = StreamOutcome(rawValue: try fields.text("outcome")) else { throw fields.invalid("outcome") }
        self.init(moved: try fields.integer("moved"), outcome: outcome, message: try fields.text("message"))
    }

    /// The object on the socket.
    package var json: JSONObject {
        [
            "moved": .integer(Int64(moved)), "outcome": .string(outcome.rawValue), "message": .string(message),
        ]
    }
}
