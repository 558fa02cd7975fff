import HandoffJSON

/// `org.varlink.service`, which every Varlink service implements, and the errors that it defines.
package struct VarlinkService: Sendable {
    /// The name of the interface.
    package static let name = "org.varlink.service"
    /// The error for a call to an interface that is not offered; field `interface`.
    package static let interfaceNotFound = "org.varlink.service.InterfaceNotFound"
    /// The error for a call to a method that does not exist in the interface; field `method`, with
    /// its interface.
    package static let methodNotFound = "org.varlink.service.MethodNotFound"
    /// The error for a method that the interface defines but the service does not implement; field
    /// `method`.
    static let methodNotImplemented = "org.varlink.service.MethodNotImplemented"
    /// The error for a parameter that is missing or has the wrong type; field `parameter`, a path.
    package static let invalidParameter = "org.varlink.service.InvalidParameter"
    /// The error for a client without permission.
    package static let permissionDenied = "org.varlink.service.PermissionDenied"
    /// The error for a call without `more` to a method that requires it.
    static let expectedMore = "org.varlink.service.ExpectedMore"

    /// The version reported by `GetInfo`.
    package let version: String
    /// The offered interfaces, including `org.varlink.service`, sorted by name.
    package let interfaces: [VarlinkInterface]

    /// Creates a service that offers these interfaces in addition to `org.varlink.service`.
    package init(version: String, interfaces: [VarlinkInterface]) {
        self.version = version
        self.interfaces = (interfaces + [HandoffInterfaces.service].compactMap(\.self))
            .sorted { $0.name.precedesInBytes($1.name) }
    }

    /// The reply to a call that the service answers itself: introspection, and calls to unknown
    /// methods. Nil if the call is for a method of one of the other interfaces.
    package func reply(to call: VarlinkCall) -> VarlinkReply? {
        let name = call.interface
        guard let interface = interfaces.first(where: { $0.name.hasSameBytes(as: name) }) else {
            return VarlinkReply(error: Self.interfaceNotFound, parameters: ["interface": .string(name)])
        }
        guard interface.methods.contains(call.member) else {
            return VarlinkReply(error: Self.methodNotFound, parameters: ["method": .string(call.method)])
        }
        guard interface.name.hasSameBytes(as: Self.name) else { return nil }
        switch call.member {
        case "GetInfo": return VarlinkReply(parameters: information)
        case "GetInterfaceDescription": return description(for: call.parameters)
        default: return VarlinkReply(error: Self.methodNotImplemented, parameters: ["method": .string(call.method)])
        }
    }

    private var information: JSONObject {
        [
            "vendor": "Handoff",
            "product": "Handoff for Linux",
            "version": .string(version),
            "url": "",
            "interfaces": .array(interfaces.map { .string($0.name) }),
        ]
    }

    private func description(for parameters: JSONObject) -> VarlinkReply {
        guard let name = parameters["interface"]?.string else {
            return VarlinkReply(error: Self.invalidParameter, parameters: ["parameter": "interface"])
        }
        guard let interface = interfaces.first(where: { $0.name.hasSameBytes(as: name) }) else {
            return VarlinkReply(error: Self.interfaceNotFound, parameters: ["interface": .string(name)])
        }
        return VarlinkReply(parameters: ["description": .string(interface.description)])
    }
}

/// An offered interface: its name, its description, and the methods defined in it.
package struct VarlinkInterface: Sendable {
    /// The name, such as `dev.handoff1`.
    package let name: String
    /// The interface definition, as returned by introspection.
    package let description: String
    /// The names of its methods, without the interface.
    package let methods: Set<String>

    /// Parses name and methods from a definition. Returns nil if it has no single interface name or
    /// is not UTF-8.
    ///
    /// Relies on the layout of our own files: `interface` and `method` start a line.
    package init?(definition text: String) {
        let lines = text.split(separator: "\n")
        let names = lines.compactMap { Self.word(after: "interface ", in: $0) }
        guard names.count == 1, let name = names.first else { return nil }
        self.name = name
        description = text
        methods = Set(lines.compactMap { Self.word(after: "method ", in: $0) })
    }

    private static func word(after keyword: String, in line: Substring) -> String? {
        guard line.hasPrefix(keyword) else { return nil }
        let word = line.dropFirst(keyword.count).prefix { $0 != "(" && $0 != " " }
        return word.isEmpty ? nil : String(word)
    }
}
