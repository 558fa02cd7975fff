import HandoffClient
import HandoffControl
import HandoffModel

/// `network list`: the networks that this machine is in, and those that are known.
package struct NetworkListCommand: Command {
    package static let specification = CommandSpecification(
        words: ["network", "list"], summary: "list the networks that this machine is in, and those that are known",
        details: """
            With networks = known in handoffd.conf this device is found in known networks alone; in others it announces
            nothing and looks for nobody. A network is identified by the link-layer address of its gateway.
            """,
        example: "handoffctl network list")

    package init(validating arguments: ParsedArguments) throws(UsageError) {}

    package func run(in context: CommandContext) {
        context.request { client, then in
            client.listNetworks(then)
        } present: {
            NetworkText.show($0, context)
        }
    }
}

/// `network trust`: makes a network known.
package struct NetworkTrustCommand: Command {
    package static let specification = CommandSpecification(
        words: ["network", "trust"], operands: "[INTERFACE|ID]", operandCount: 0...1,
        summary: "make a network known, so that this device is found there",
        options: [OptionSpecification("--name", .value("NAME"), "what to call it")],
        details: """
            Without an interface or an id: the network that this machine is in. Without a name it is called as
            NetworkManager calls it.
            """,
        example: "handoffctl network trust --name Home")

    private let network: String?
    private let name: String?

    package init(validating arguments: ParsedArguments) throws(UsageError) {
        var network: String?
        var name: String?
        if let text = arguments.operands.first { network = try ArgumentValue.text(text, option: "INTERFACE|ID") }
        if let text = arguments.value("--name") { name = try ArgumentValue.text(text, option: "--name") }
        self.network = network
        self.name = name
    }

    package func run(in context: CommandContext) {
        context.request { client, then in
            client.trustNetwork(network, name: name, then)
        } present: {
            NetworkText.show($0, context)
        }
    }
}

/// `network forget`: a network is known no more.
package struct NetworkForgetCommand: Command {
    package static let specification = CommandSpecification(
        words: ["network", "forget"], operands: "ID|NAME", operandCount: 1...1,
        summary: "forget a network that was known",
        example: "handoffctl network forget Home")

    private let network: String

    package init(validating arguments: ParsedArguments) throws(UsageError) {
        network = try ArgumentValue.text(arguments.operands.first ?? "", option: "ID|NAME")
    }

    package func run(in context: CommandContext) {
        context.request { client, then in
            client.forgetNetwork(network, then)
        } present: {
            NetworkText.show($0, context)
        }
    }
}

/// Networks, for people.
private enum NetworkText {
    static func show(_ answer: ControlNetworks, _ context: CommandContext) {
        if context.json { return context.console.line(answer.json) }
        if answer.networks.isEmpty {
            context.note("this machine is in no network with a gateway, and none is known")
        } else {
            context.console.write(table(answer.networks))
        }
        if answer.silent {
            context.note(
                "this device is found nowhere: no network that it is in is known", remedy: "handoffctl network trust")
        } else if !answer.knownOnly {
            context.note(
                "this device is found in all networks, known or not: networks = known in handoffd.conf changes that")
        }
    }

    private static func table(_ networks: [ControlNetwork]) -> ColumnTable {
        var table = ColumnTable(["INTERFACE", "GATEWAY", "ID", "NAME", "KNOWN"])
        for network in networks {
            table.add([
                VisibleText.escape(network.interface ?? "not here"),
                VisibleText.escape(network.gateway ?? ""),
                VisibleText.escape(network.id ?? "not known yet"),
                VisibleText.escape(network.name.flatMap { $0.isEmpty ? nil : $0 } ?? network.connection ?? ""),
                network.known ? "yes" : "no",
            ])
        }
        return table
    }
}
