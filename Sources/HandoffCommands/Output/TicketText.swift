import HandoffControl
import HandoffModel

/// Account files that were exported and can still be imported, for people.
enum TicketText {
    private static let outdated = "no longer valid, since the account key has changed; export a new file"

    /// One line for each.
    static func text(_ tickets: [ControlTicket]) -> String {
        tickets.map { ticket in
            let exporter = ticket.mine ? "this device" : ticket.device.short
            let age = ticket.age.map { $0 < 60 ? " just now" : " \(RelativeAge.text(seconds: $0)) ago" } ?? ""
            let use = ticket.outdated == true ? outdated : "not yet used"
            return "\(VisibleText.escape(String(ticket.id.prefix(7)))), exported by \(exporter)\(age), \(use)"
        }.joined(separator: "\n")
    }
}
