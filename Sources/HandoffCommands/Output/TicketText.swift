import HandoffControl
import HandoffModel

/// Account files that were exported and can still be imported, for people.
enum TicketText {
    /// One line for each.
    static func text(_ tickets: [ControlTicket]) -> String {
        tickets.map { ticket in
            let exporter = ticket.mine ? "this device" : ticket.device.short
            let age = ticket.age.map { $0 < 60 ? " just now" : " \(RelativeAge.text(seconds: $0)) ago" } ?? ""
            return "\(VisibleText.escape(String(ticket.id.prefix(7)))), exported by \(exporter)\(age), not yet used"
        }.joined(separator: "\n")
    }
}
