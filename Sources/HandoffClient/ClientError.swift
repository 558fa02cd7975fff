package import HandoffJSON

/// Why something that was asked of the daemon did not come about. The wording for people is the command's affair.
package enum ClientError: Error, Equatable, Sendable {
    /// No connection to the socket could be made, and why.
    case notReachable(path: String, reason: String)
    /// The socket is that of another user's process, which was told nothing.
    case foreign(path: String, user: UInt32)
    /// The daemon ended the connection before it had answered.
    case lost(path: String)
    /// The daemon sent something that is no answer to what was asked.
    case badAnswer(String)
    /// The daemon answered with an error.
    case refused(ServiceRefusal)
}

/// An error that the daemon answered with.
package struct ServiceRefusal: Error, Equatable, Sendable {
    /// The full name: `dev.handoff1.Control.NoAccount`.
    package let name: String
    /// The error's fields.
    package let parameters: JSONObject

    package init(name: String, parameters: JSONObject) {
        self.name = name
        self.parameters = parameters
    }

    /// The name without its interface: `NoAccount`.
    package var kind: String {
        name.split(separator: ".").last.map(String.init) ?? name
    }

    /// Whether the daemon does not know the method that was called: it is older than we are.
    package var isAboutMethod: Bool {
        ["MethodNotFound", "MethodNotImplemented", "InterfaceNotFound"].contains { name == "org.varlink.service.\($0)" }
    }

    /// The daemon's words, or a sentence that names the error when it sent none.
    package var message: String {
        if let message = parameters["message"]?.string, !message.isEmpty { return message }
        let fields = parameters.map { "\($0.key) \($0.value.string ?? "?")" }
        return "the daemon answered \(kind)" + (fields.isEmpty ? "" : ": \(fields.joined(separator: ", "))")
    }
}
