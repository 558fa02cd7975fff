package import HandoffJSON

/// Something that one device tells the other, without an answer.
package struct PeerNotice: Sendable, Equatable {
    /// What is told, one of ``PeerMethod`` or unknown to this version, then ignored.
    package let method: String

    /// What the method takes.
    package let parameters: JSONObject

    /// Longest method name that is accepted, in bytes.
    private static let maximumMethodCount = 64

    /// A notice.
    package init(method: String, parameters: JSONObject) {
        self.method = method
        self.parameters = parameters
    }

    /// The body of the frame.
    package func encoded() -> [UInt8] {
        JSON.object(["method": .string(method), "parameters": .object(parameters)]).encoded()
    }

    /// Reads the body of a frame; unknown members are ignored.
    package init(decoding body: [UInt8]) throws(MessageError) {
        let fields = try MessageFields(parsing: body)
        self.init(
            method: try fields.text("method", maximum: Self.maximumMethodCount),
            parameters: try fields.optionalObject("parameters") ?? [:])
    }
}
