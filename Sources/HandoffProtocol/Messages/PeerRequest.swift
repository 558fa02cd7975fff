package import HandoffJSON

/// Something that one device asks of the other; answered by one ``PeerResponse`` with the same id.
package struct PeerRequest: Sendable, Equatable {
    /// Chosen by the asking side: 1 for its first request on the connection, one more for each.
    package let id: Int64

    /// What is asked, one of ``PeerMethod`` or unknown to this version.
    package let method: String

    /// What the method takes.
    package let parameters: JSONObject

    /// Longest method name that is accepted, in bytes.
    private static let maximumMethodCount = 64

    /// A request.
    package init(id: Int64, method: String, parameters: JSONObject) {
        self.id = id
        self.method = method
        self.parameters = parameters
    }

    /// The body of the frame.
    package func encoded() -> [UInt8] {
        JSON.object(["id": .integer(id), "method": .string(method), "parameters": .object(parameters)]).encoded()
    }

    /// Reads the body of a frame; unknown members are ignored.
    package init(decoding body: [UInt8]) throws(MessageError) {
        let fields = try MessageFields(parsing: body)
        let id = try fields.integer("id")
        guard id >= 1 else { throw .field("id") }
        self.init(
            id: id, method: try fields.text("method", maximum: Self.maximumMethodCount),
            parameters: try fields.optionalObject("parameters") ?? [:])
    }
}
