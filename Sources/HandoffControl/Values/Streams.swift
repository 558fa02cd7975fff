package import HandoffJSON
package import HandoffModel

/// The parameters of `OpenStream`: which of the two is opened.
package enum OpenStreamRequest: ControlMessage {
    /// A new stream to the origin of an activity that the caller continued, and what it is for.
    case continuation(ContinuationID, resource: StreamResource? = nil)
    /// The stream that a `stream` event announced.
    case stream(StreamID)

    /// Reads the parameters; throws `invalidParameter`, also unless there is exactly one of the two, and for a
    /// `resource` of a stream that was announced.
    package init(json: JSONObject) throws(VarlinkError) {
        let fields = Fields(json)
        let continuation: ContinuationID? = try fields.optional("continuation")
        let stream: StreamID? = try fields.optional("stream")
        let resource: StreamResource? = try fields.optional("resource")
        switch (continuation, stream) {
        case (let id?, nil): self = .continuation(id, resource: resource)
        case (nil, let id?):
            guard resource == nil else { throw fields.invalid("resource") }
            self = .stream(id)
        case (nil, nil): throw fields.invalid("continuation")
        case (_?, _?): throw fields.invalid("stream")
        }
    }

    /// The parameters on the socket; what is absent is left out.
    package var json: JSONObject {
        switch self {
        case .continuation(let id, nil): ["continuation": .string(id.hex)]
        case .continuation(let id, let resource?):
            ["continuation": .string(id.hex), "resource": .string(resource.text)]
        case .stream(let id): ["stream": .string(id.hex)]
        }
    }
}

/// The results of `AwaitStream`: a stream that is over.
package struct AwaitStreamReply: ControlValue {
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
}

/// The fields of the error `StreamEnded`: the stream was over before all of a passed file had moved.
package struct StreamEndedError: ControlValue {
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
}

/// `Outcome`: how a stream ended; the raw value is the text on the socket.
package enum StreamOutcome: String, Codable, Sendable, CaseIterable {
    /// Both directions ended in order.
    case ended
    /// The app here closed it.
    case cancelled
    /// The app on the other device closed it.
    case reset
    /// No app on the other device took it.
    case refused
    /// The connection broke.
    case gone
    /// One of the two devices is no member of the account any more.
    case removed
    /// No byte moved for an hour.
    case idle
    /// A daemon ended, here or there.
    case stopped
    /// A passed file failed, here or there.
    case failed
}
