package import HandoffJSON
package import HandoffModel

/// The parameters of `OpenStream`: which of the two is opened.
package enum OpenStreamRequest: Sendable, Equatable {
    /// A new stream to the origin of an activity that the caller continued, and what it is for.
    case continuation(ContinuationID, resource: StreamResource? = nil)
    /// The stream that a `stream` event announced.
    case stream(StreamID)

    /// Reads the parameters; throws `invalidParameter`, also unless there is exactly one of the two, and for a
    /// `resource` of a stream that was announced.
    package init(json: JSONObject) throws(VarlinkError) {
        let fields = Fields(json)
        let continuation: ContinuationID? = try fields.optionalID("continuation")
        let stream: StreamID? = try fields.optionalID("stream")
        let resource = try fields.optionalResource("resource")
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
