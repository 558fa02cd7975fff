import HandoffHandlers
import HandoffModel

/// The attached apps. Lives on the daemon's loop.
struct AppRegistry {
    private var sessions: [SessionID: AppSession] = [:]
    private var attachments: UInt64 = 0

    /// The number of attached apps.
    var count: Int { sessions.count }

    /// Returns the number of the next attachment.
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

    /// Returns the attachment with this id.
    func session(_ id: SessionID) -> AppSession? { sessions[id] }

    /// All attached apps, as candidates for handling an activity.
    var running: [RunningApp] { sessions.values.map(\.running) }

    /// All attachments, oldest first.
    var all: [AppSession] { sessions.values.sorted { $0.order < $1.order } }
}
