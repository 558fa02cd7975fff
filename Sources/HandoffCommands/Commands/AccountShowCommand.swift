import HandoffClient
import HandoffControl
import HandoffJSON
import HandoffModel

/// `account show`: the account of this device.
package struct AccountShowCommand: Command {
    package static let specification = CommandSpecification(
        words: ["account", "show"], summary: "show the account of this device",
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
