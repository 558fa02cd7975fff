import HandoffHandlers
import HandoffModel

/// The apps that are attached now. Lives on the daemon's loop.
struct AppRegistry {
    private var sessions: [SessionID: AppSession] = [:]
    private var attachments: UInt64 = 0

    /// The number of attached apps.
    var count: Int { sessions.count }

    /// The number that the next attachment gets.
    mutating func nextOrder() -> UInt64 {
        attachments &+= 1
        return attachments
    }

    /// Adds an attachment.
    mutating func add(_ session: AppSession) {
        sessions[session.id] = session
    }

    /// Removes an attachment whose connection ended.
    mutating func remove(_ id: SessionID) {
        sessions[id] = nil
    }

    /// The attachment with this id.
    func session(_ id: SessionID) -> AppSession? { sessions[id] }

    /// All attached apps, to be chosen from.
    var running: [RunningApp] { sessions.values.map(\.running) }

    /// All attachments, in the order in which they were made.
    var all: [AppSession] { sessions.values.sorted { $0.order < $1.order } }
}
