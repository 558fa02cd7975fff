import HandoffClient
import HandoffControl
import HandoffJSON
import HandoffModel
package import LoopIO

/// `account show`: shows the account of this device.
package struct AccountShowCommand: Command {
    package static let specification = CommandSpecification(
        words: ["account", "show"], summary: "show the account of this device",
        details: """
            Shows the account, its epoch, the number of its devices, and the open tickets: those of exported files that
            have not been used yet.

            With --json: account (null without an account), epoch, devices, tickets.
            """,
        example: "handoffctl account show")

    package init(validating arguments: ParsedArguments) throws(UsageError) {}

    package func run(in context: CommandContext) {
        context.request { client, then in
            client.getAccount(then)
        } present: { account in
            if context.json {
                context.console.line(account.json)
            } else {
                context.console.write(Self.text(account))
            }
        }
    }

    private static func text(_ account: ControlAccount) -> String {
        guard let id = account.account else { return "account  none; create one with: handoffctl account create\n" }
        var fields: [(label: String, value: String)] = [("account", id.grouped)]
        if let epoch = account.epoch { fields.append(("epoch", "\(epoch)")) }
        fields.append(("devices", "\(account.devices)"))
        if !account.tickets.isEmpty { fields.append(("tickets", TicketText.text(account.tickets))) }
        return ColumnTable.fields(fields)
    }
}

/// `account create`: creates an account with this device as its first member.
package struct AccountCreateCommand: Command {
    package static let specification = CommandSpecification(
        words: ["account", "create"], summary: "create an account with this device as its first member",
        details: """
            Other devices join with a code: see handoffctl help pair. Fails with AccountExists if the device already
            has an account. A device that was removed from its account leaves that account first and gets a new
            identity.

            With --json: account.
            """,
        example: "handoffctl account create")

    package init(validating arguments: ParsedArguments) throws(UsageError) {}

    package func run(in context: CommandContext) {
        context.request { client, then in
            client.createAccount(then)
        } present: { account in
            context.show(["account": .string(account.hex)], or: "created account \(account.grouped)")
        } refused: { failure in
            context.leaveFormerAccount(after: failure) { run(in: context) }
        }
    }
}

/// `account rotate`: creates a new account key for the same devices.
package struct AccountRotateCommand: Command {
    package static let specification = CommandSpecification(
        words: ["account", "rotate"], summary: "create a new account key and send it to all devices of the account",
        details: """
            Use this if the account key may have been exposed. Membership does not change, so it does not lock out a
            lost device, or a person with a copy of a device's state, as in a backup. To do that, use handoffctl device
            remove, which also creates a new key. handoffctl devices shows which devices have not received the key yet.

            With --json: epoch.
            """,
        example: "handoffctl account rotate")

    package init(validating arguments: ParsedArguments) throws(UsageError) {}

    package func run(in context: CommandContext) {
        context.request { client, then in
            client.rotateKey(then)
        } present: { epoch in
            if context.json {
                context.console.line(["epoch": .integer(Int64(epoch))])
            } else {
                context.console.line("created a new account key: epoch \(epoch)")
                context.note("handoffctl devices shows which devices do not have it yet")
            }
        }
    }
}

/// Formats account files that were exported and can still be imported.
enum TicketText {
    /// Returns one line per ticket.
    static func text(_ tickets: [ControlTicket]) -> String {
        tickets.map { ticket in
            let exporter = ticket.mine ? "this device" : ticket.device.short
            let age = ticket.age.map { $0 < 60 ? " just now" : " \(RelativeAge.text(seconds: $0)) ago" } ?? ""
            return "\(VisibleText.escape(String(ticket.id.prefix(7)))), exported by \(exporter)\(age), not used yet"
        }.joined(separator: "\n")
    }
}
