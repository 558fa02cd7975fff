import HandoffClient
import HandoffControl
import HandoffModel
package import LoopIO

/// `status`: shows the daemon, the device, its account and its peers.
package struct StatusCommand: Command {
    package static let specification = CommandSpecification(
        words: ["status"], summary: "show the daemon, this device, its account and its peers",
        details: """
            Shows the daemon's version, this device (name, kind, id), its account, the discovery in use, the port, the
            peers, the number of activities that apps here have (published) and that other devices offer (offered),
            unused account files, the switches (see handoffctl help pause), and warnings.

            With --json: at least daemon, device, name, kind, account, epoch, discovery, discoveryState, port, peers,
            published, offered, tickets, advertising, receiving, holds, warnings, standing. The last one is the
            device's status in its account: member, joining, removed, removedMutually (by a device that it removed
            itself), fileUsedTwice or fileClosed.
            """,
        example: "handoffctl status")

    package init(validating arguments: ParsedArguments) throws(UsageError) {}

    package func run(in context: CommandContext) {
        context.request { client, then in
            client.getStatus(then)
        } present: { status in
            if context.json {
                context.console.line(status.json)
            } else {
                context.console.write(StatusText.text(status))
            }
        }
    }
}

/// Formats the daemon's status.
enum StatusText {
    /// Returns labels and values, then tables of peers, tickets and warnings, as complete lines.
    static func text(_ status: ControlStatus) -> String {
        var fields: [(label: String, value: String)] = [
            ("daemon", VisibleText.escape(status.daemon)),
            ("device", "\(VisibleText.escape(status.name)) (\(status.kind.name))"),
            ("id", status.device.grouped),
            ("account", account(status)),
            ("discovery", "\(VisibleText.escape(status.discovery)), \(VisibleText.escape(status.discoveryState))"),
            ("port", "\(status.port)"),
            ("activities", "\(status.published) published here, \(status.offered) offered by other devices"),
            ("switches", SwitchText.text(status.switches)),
            ("peers", peers(status.peers)),
        ]
        if status.savesPower { fields.append(("power", "saving: background work wakes the machine less often")) }
        if !status.tickets.isEmpty { fields.append(("tickets", TicketText.text(status.tickets))) }
        let warnings = status.warnings + [Obstacle.unanswered(status)?.message].compactMap(\.self)
        if !warnings.isEmpty {
            fields.append(("warnings", warnings.map(VisibleText.escape).joined(separator: "\n")))
        }
        return ColumnTable.fields(fields)
    }

    private static func account(_ status: ControlStatus) -> String {
        guard let account = status.account else { return "none" }
        return account.grouped + (status.epoch.map { ", epoch \($0)" } ?? "")
    }

    private static func peers(_ peers: [ControlPeer]) -> String {
        if peers.isEmpty { return "none" }
        var table = ColumnTable(["NAME", "ID", "ADDRESS", "VIA", "CONNECTION", "OFFERS"])
        for peer in peers {
            table.add([
                VisibleText.escape(peer.name ?? (peer.device == nil ? "not yet known" : "unnamed")),
                peer.device?.short ?? "",
                VisibleText.escape(peer.address ?? ""),
                VisibleText.escape(peer.via.text),
                peer.connected ? "open" : "none",
                "\(peer.activities)",
            ])
        }
        return table.lines().joined(separator: "\n")
    }
}
