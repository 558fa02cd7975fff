import HandoffClient
import HandoffJSON
package import LoopIO

/// `peer add`: adds an address to connect to directly, where multicast does not reach.
package struct PeerAddCommand: Command {
    package static let specification = CommandSpecification(
        words: ["peer", "add"], operands: [.one("HOST:PORT")],
        summary: "add the fixed address of a device that multicast does not reach",
        details: """
            The daemon connects to the address directly, for networks that multicast does not cross. It is kept across
            restarts. Put
            IPv6 addresses in brackets: [2001:db8::1]:24863. A link-local address needs its interface:
            [fe80::1%eth0]:24863. Without it the address is refused.

            With --json: added.
            """,
        example: "handoffctl peer add desk.example.org:24863")

    private let address: String

    package init(validating arguments: ParsedArguments) throws(UsageError) {
        address = try ArgumentValue.peerAddress(arguments.operands, command: Self.specification.name)
    }

    package func run(in context: CommandContext) {
        context.request { client, then in
            client.addPeer(address, then)
        } present: { _ in
            context.showAddress("added", address)
        }
    }
}

/// `peer remove`: removes an address that was added.
package struct PeerRemoveCommand: Command {
    package static let specification = CommandSpecification(
        words: ["peer", "remove"], operands: [.one("HOST:PORT")],
        summary: "remove an address that was added",
        details: """
            HOST:PORT is the address as handoffctl status shows it.

            With --json: removed.
            """,
        example: "handoffctl peer remove desk.example.org:24863")

    private let address: String

    package init(validating arguments: ParsedArguments) throws(UsageError) {
        address = try ArgumentValue.peerAddress(
            arguments.operands, isCalled: false, command: Self.specification.name)
    }

    package func run(in context: CommandContext) {
        context.request { client, then in
            client.removePeer(address, then)
        } present: { _ in
            context.showAddress("removed", address)
        }
    }
}

extension CommandContext {
    /// Prints the change made to an address.
    fileprivate func showAddress(_ done: String, _ address: String) {
        if json {
            console.line([done: .string(address)])
        } else {
            console.line("\(done) \(address)")
        }
    }
}
