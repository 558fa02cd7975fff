import HandoffControl
import HandoffModel
import LoopIO

/// Entries of the log of continuations, for people.
enum LogText {
    /// The entry in one line: when, where to, what, and what came of it.
    static func line(_ entry: ControlLogEntry) -> String {
        let device = "\(VisibleText.escape(entry.deviceName)) (\(entry.device.short))"
        let app = entry.app.map { " in \(VisibleText.escape($0))" } ?? ""
        let ways = entry.direction == .in ? "from \(device)" : "to \(device)"
        let outcome = VisibleText.escape(entry.outcome)
        let what: String
        switch entry.event {
        case .continuation, .payload:
            what = "\(VisibleText.escape(entry.type ?? "")) \(ways)\(app): \(outcome)"
        case .stream:
            what = "stream \(ways)\(app): \(outcome), \(entry.sent ?? 0) bytes sent, \(entry.received ?? 0) received"
        }
        let count = entry.count == 1 ? "" : " (\(entry.count) times)"
        return "\(LocalTime.text(entry.time))  \(what)\(count)"
    }
}
