package import HandoffJSON
package import HandoffModel

/// The parameters of `OpenStream`: a continuation or an announced stream.
package enum OpenStreamRequest: ControlMessage {
    /// A new stream to the origin of an activity that the caller continued, and its purpose.
    case continuation(ContinuationID, resource: StreamResource? = nil)
    /// The stream that a `stream` event announced.
    case stream(StreamID)

    /// Decodes the parameters. Throws `invalidParameter`, also unless exactly one of the two is
    /// set, and for a `resource` of an announced stream.
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

    /// The parameters on the socket; absent fields are omitted.
    package var json: JSONObject {
        switch self {
        case .continuation(let id, nil): ["continuation": .string(id.hex)]
        case .continuation(let id, let resource?):
            ["continuation": .string(id.hex), "resource": .string(resource.text)]
        case .stream(let id): ["stream": .string(id.hex)]
        }
    }
}

/// The results of `AwaitStream`: a stream that has ended.
package struct AwaitStreamReply: ControlValue {
    /// The outcome of the stream.
    package var outcome: StreamOutcome
    /// Why, as a fragment for users.
    package var message: String
    /// Bytes that this device sent.
    package var sent: Int
    /// Bytes received from the other device.
    package var received: Int

    package init(outcome: StreamOutcome, message: String, sent: Int, received: Int) {
        self.outcome = outcome
        self.message = message
        self.sent = sent
        self.received = received
    }
}

/// The fields of the error `StreamEnded`: the stream ended before all of a passed file was
/// transferred.
package struct StreamEndedError: ControlValue {
    /// Number of bytes transferred.
    var moved: Int
    /// The outcome of the stream.
    package var outcome: StreamOutcome
    /// Why, as a fragment for users.
    package var message: String

    package init(moved: Int, outcome: StreamOutcome, message: String) {
        self.moved = moved
        self.outcome = outcome
        self.message = message
    }
}

/// `Outcome`: how a stream ended. The raw value is the value on the socket.
package enum StreamOutcome: String, Codable, Sendable, CaseIterable {
    /// Both directions ended in order.
    case ended
    /// The local app closed it.
    case cancelled
    /// The app on the other device closed it.
    case reset
    /// No app on the other device accepted it.
    case refused
    /// The connection was lost.
    case gone
    /// One of the two devices is no longer a member of the account.
    case removed
    /// No byte was transferred for an hour.
    case idle
    /// A daemon ended on either device.
    case stopped
    /// A passed file failed on either device.
    case failed
    /// An outcome of a newer daemon.
    case other

    /// Decodes a word from the socket. A word of a later version becomes `other`.
    package init(from decoder: any Decoder) throws {
        self = StreamOutcome(rawValue: try decoder.singleValueContainer().decode(String.self)) ?? .other
    }
}
