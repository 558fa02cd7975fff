/// `Outcome`: how a stream ended; the raw value is the text on the socket.
package enum StreamOutcome: String, Sendable, CaseIterable {
    /// Both directions ended in order.
    case ended
    /// The app here closed it.
    case cancelled
    /// The app on the other device closed it.
    case reset
    /// No app on the other device took it.
    case refused
    /// The connection broke.
    case gone
    /// One of the two devices is no member of the account any more.
    case removed
    /// No byte moved for an hour.
    case idle
    /// A daemon ended, here or there.
    case stopped
    /// A passed file failed, here or there.
    case failed
}
