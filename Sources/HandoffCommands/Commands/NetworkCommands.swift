import HandoffClient
import HandoffControl
import HandoffModel
package import LoopIO

/// `network list`: lists this machine's current networks and the known ones.
package struct NetworkListCommand: Command {
    package static let specification = CommandSpecification(
        words: ["network", "list"], summary: "list the current networks of this machine, and the known ones",
        details: """
            Shows the networks of this machine's default routes, then the other known ones. With 'networks = known' in
            handoffd.conf, this device can be found only in known networks. In other networks it announces nothing,
            sends no multicast DNS queries or responses, connects to no device, fixed addresses included, and admits no
            device. The commands list, publish, pair and doctor report this.

            A network is identified by the link-layer address of its gateway, its id. This is not a proof: the operator
            of another network can give its gateway the same address. A network without a default route cannot be
            known. If several interfaces are up, each is judged separately.

            With --json: knownOnly, silent, networks (each id, interface, gateway, name, connection, known). For a
            network that this machine is not in, interface, gateway and connection are null. The name is the user's.
            The connection is that of NetworkManager, which uses the name that a wireless network gives itself and
            therefore proves nothing.
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

/// `network trust`: marks a network as known.
package struct NetworkTrustCommand: Command {
    package static let specification = CommandSpecification(
        words: ["network", "trust"], operands: [.optional("INTERFACE|ID")],
        summary: "mark a network as known, so that this device can be found there",
        options: [OptionSpecification("--name", .value("NAME"), "the name to show for it")],
        details: """
            Without an argument, marks the network that this machine is in. Without --name, the name from
            NetworkManager is shown, if NetworkManager runs. The output is that of handoffctl network list.
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

/// `network forget`: removes a network from the known ones.
package struct NetworkForgetCommand: Command {
    package static let specification = CommandSpecification(
        words: ["network", "forget"], operands: [.one("ID|NAME")],
        summary: "forget a known network",
        details: """
            Reverses handoffctl network trust. The output is that of handoffctl network list.
            """,
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

/// Formats networks.
private enum NetworkText {
    static func show(_ answer: ControlNetworks, _ context: CommandContext) {
        if context.json { return context.console.line(answer.json) }
        if answer.networks.isEmpty {
            context.note("this machine is in no network with a gateway, and no network is known")
        } else {
            context.console.write(table(answer.networks))
        }
        if answer.silent {
            context.note(
                "this device cannot be found: it is in no known network", remedy: "handoffctl network trust")
        } else if !answer.knownOnly {
            context.note(
                "this device can be found in all networks; networks = known in handoffd.conf limits it to known ones")
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
