package import HandoffJSON

/// A call: a method, its parameters, and the requested kind of reply.
package struct VarlinkCall: Sendable, Equatable {
    /// The name with its interface, such as `dev.handoff1.Attach`.
    package var method: String
    /// The parameters by name.
    package var parameters: JSONObject
    /// True if no reply may be sent.
    var oneway: Bool
    /// True if several replies are allowed.
    package var more: Bool
    /// True if the connection becomes a raw stream after the reply.
    package var upgrade: Bool

    /// Creates a call. At most one of the three flags may be set.
    package init(
        method: String, parameters: JSONObject = [:], oneway: Bool = false, more: Bool = false, upgrade: Bool = false
    ) {
        self.method = method
        self.parameters = parameters
        self.oneway = oneway
        self.more = more
        self.upgrade = upgrade
    }

    /// Decodes one message without its NUL. Unknown or duplicate keys, and two flags together, are
    /// errors.
    package init(decoding bytes: [UInt8]) throws(VarlinkError) {
        let envelope = try Fields(envelope: bytes, keys: ["method", "parameters", "oneway", "more", "upgrade"])
        guard let method = try envelope.optionalText("method") else { throw .malformed("no 'method'") }
        self.init(
            method: method, parameters: try envelope.optionalObject("parameters") ?? [:],
            oneway: try envelope.isSet("oneway"), more: try envelope.isSet("more"),
            upgrade: try envelope.isSet("upgrade"))
        guard [oneway, more, upgrade].count(where: { $0 }) <= 1 else {
            throw .malformed("two of 'oneway', 'more' and 'upgrade'")
        }
    }

    /// The message with its NUL.
    package func encoded() -> [UInt8] {
        var message: JSONObject = ["method": .string(method), "parameters": .object(parameters)]
        if oneway { message["oneway"] = true }
        if more { message["more"] = true }
        if upgrade { message["upgrade"] = true }
        return VarlinkFramer.frame(message)
    }

    /// The part of the method before its last dot, or an empty string without one.
    package var interface: String {
        guard let dot = method.utf8.lastIndex(of: UInt8(ascii: ".")) else { return "" }
        return String(method[..<dot])
    }

    /// The part of the method after its last dot, or the whole method without one.
    package var member: String {
        guard let dot = method.utf8.lastIndex(of: UInt8(ascii: ".")) else { return method }
        return String(method[method.utf8.index(after: dot)...])
    }
}

/// Identifies a call of one connection within one process. It is never sent over the socket.
package struct VarlinkCallID: Hashable, Sendable, Comparable {
    /// Increases from 1 in the order of the calls.
    package let number: UInt64

    package static func < (left: VarlinkCallID, right: VarlinkCallID) -> Bool {
        left.number < right.number
    }

    /// The id of the next call.
    var next: VarlinkCallID {
        VarlinkCallID(number: number &+ 1)
    }
}
