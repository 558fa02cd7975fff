/// The reason why a stream ended early. The raw value is sent to the other device.
package enum StreamReset: UInt8, Sendable, CaseIterable {
    /// An unknown code, or the reserved code 0. Never sent by this side.
    case unknown = 0
    /// The app closed it.
    case cancelled = 1
    /// No app accepted it.
    case refused = 2
    /// One of the devices is no longer a member of the account.
    case notMember = 3
    /// No bytes moved for too long.
    case idle = 4
    /// The daemon is stopping.
    case stopping = 5
    /// Reading or writing a passed file failed.
    case failed = 6
}
