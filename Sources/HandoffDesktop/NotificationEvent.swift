/// What the desktop's notification server, or the bus, says.
package enum NotificationEvent: Sendable, Equatable {
    /// There may be a server now: the bus is there, or a server has come. It knows nothing of former notifications.
    case appeared
    /// The server is gone, or the bus, and with it what was shown.
    case gone
    /// A notification is on the screen no more. 1: its time was over; 2: the user closed it; 3: it was withdrawn.
    case closed(UInt32, reason: UInt32)
    /// What proves to the desktop that the user asked for a window; comes before `chosen`, from some servers only.
    case token(UInt32, String)
    /// The user has chosen something.
    case chosen(UInt32, key: String)
}
