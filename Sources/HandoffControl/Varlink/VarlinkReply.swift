package import HandoffJSON

/// A reply: results or an error.
package struct VarlinkReply: Sendable, Equatable {
    /// The results, or the fields of the error.
    package var parameters: JSONObject
    /// True if further replies to the same call follow. Never true for an error.
    package var continues: Bool
    /// The name of the error with its interface, or nil.
    package var error: String?

    /// Creates a reply with results.
    package init(parameters: JSONObject = [:], continues: Bool = false) {
        self.parameters = parameters
        self.continues = continues
        error = nil
    }

    /// Creates a reply with an error, which is always the last reply.
    package init(error: String, parameters: JSONObject = [:]) {
        self.parameters = parameters
        continues = false
        self.error = error
    }

    /// Decodes one message without its NUL. Unknown or duplicate keys, and an error that continues,
    /// are errors.
    package init(decoding bytes: [UInt8]) throws(VarlinkError) {
        let envelope = try Fields(envelope: bytes, keys: ["parameters", "continues", "error"])
        parameters = try envelope.optionalObject("parameters") ?? [:]
        continues = try envelope.isSet("continues")
        error = try envelope.optionalText("error")
        guard error == nil || !continues else { throw .malformed("an error that continues") }
    }

    /// The message with its NUL.
    package func encoded() -> [UInt8] {
        var members: [JSONObject.Element] = []
        members.reserveCapacity(2)
        if let error { members.append(("error", .string(error))) }
        members.append(("parameters", .object(parameters)))
        if continues { members.append(("continues", true)) }
        return VarlinkFramer.frame(JSONObject(distinct: members))
    }
}
