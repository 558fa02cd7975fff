package import HandoffJSON

/// An error of a call to the daemon. The commands choose the user-visible wording.
package enum ClientError: Error, Equatable, Sendable {
    /// No connection to the socket could be established.
    case notReachable(path: String, reason: String)
    /// The socket belongs to another user's process. Nothing was sent to it.
    case foreign(path: String, user: UInt32)
    /// The daemon ended the connection before it replied.
    case lost(path: String)
    /// The daemon sent an invalid reply.
    case badAnswer(String)
    /// The daemon replied with an error.
    case refused(ServiceRefusal)
}

/// An error reply from the daemon.
package struct ServiceRefusal: Error, Equatable, Sendable {
    /// The full name: `dev.handoff1.Control.NoAccount`.
    package let name: String
    /// The error's fields.
    package let parameters: JSONObject

    /// The name without its interface: `NoAccount`.
    package var kind: String {
        name.split(separator: ".").last.map(String.init) ?? name
    }

    /// True if the daemon does not know the method that was called, because it is older than this
    /// client.
    package var isAboutMethod: Bool {
        ["MethodNotFound", "MethodNotImplemented", "InterfaceNotFound"].contains { name == "org.varlink.service.\($0)" }
    }

    /// The daemon's message, or a sentence that names the error if it sent none.
    package var message: String {
        if let message = parameters["message"]?.string, !message.isEmpty { return message }
        let fields = parameters.map { "\($0.key) \($0.value.string ?? "?")" }
        return "the daemon answered \(kind)" + (fields.isEmpty ? "" : ": \(fields.joined(separator: ", "))")
    }
}
