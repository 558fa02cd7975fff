package import HandoffJSON

/// The results of `AwaitStream`: a stream that is over.
package struct AwaitStreamReply: Sendable, Equatable {
    /// How it ended.
    package var outcome: StreamOutcome
    /// Why, as a fragment for people.
    package var message: String
    /// Bytes that this device sent.
    package var sent: Int
    /// Bytes that came from the other device.
    package var received: Int

    /// Results with these values.
    package init(outcome: StreamOutcome, message: String, sent: Int, received: Int) {
        self.outcome = outcome
        self.message = message
        self.sent = sent
        self.received = received
    }

    /// Reads the results; throws `invalidParameter`.
    package init(json: JSONObject) throws(VarlinkError) {
        let fields = Fields(json)
        guard let outcome = StreamOutcome(rawValue: try fields.text("outcome")) else { throw fields.invalid("outcome") }
        self.init(
            outcome: outcome, message: try fields.text("message"), sent: try fields.integer("sent"),
            received: try fields.integer("received"))
    }

    /// The results on the socket.
    package var json: JSONObject {
        [
            "outcome": .string(outcome.rawValue), "message": .string(message), "sent": .integer(Int64(sent)),
            "received": .integer(Int64(received)),
        ]
    }
}
