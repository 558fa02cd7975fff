/// Why a stream was ended before its time; the number is what the other device is told.
package enum StreamReset: UInt8, Sendable, CaseIterable {
    /// A code that this version does not know, or 0, which is reserved; never sent by this side.
    case unknown = 0
    /// The app closed it.
    case cancelled = 1
    /// No app took it.
    case refused = 2
    /// One of the devices is no member of the account any more.
    case notMember = 3
    /// Nothing had moved for too long.
    case idle = 4
    /// The daemon ends.
    case stopping = 5
    /// A file that was to be read or written failed.
    case failed = 6
}
