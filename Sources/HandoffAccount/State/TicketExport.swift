/// When this device exported the account; it closes the ticket after a day without use.
package struct TicketExport: Hashable, Sendable {
    /// How long a file is good for, in seconds.
    package static let lifetime: UInt64 = 24 * 60 * 60

    /// The ticket in the file.
    package let ticket: Fingerprint
    /// Seconds since 1970 on this device's clock.
    package let time: UInt64

    /// Seconds since the export; 0 when the clock was set back.
    package func age(at now: UInt64) -> UInt64 {
        now > time ? now - time : 0
    }

    /// Whether the lifetime is over. A clock that was set back by more than it counts as over too: closing early only
    /// means to export again.
    func isOver(at now: UInt64) -> Bool {
        (now > time ? now - time : time - now) >= Self.lifetime
    }
}
