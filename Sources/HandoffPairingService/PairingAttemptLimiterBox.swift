import HandoffPairing

/// What is left of codes that may be tried, over all windows of a daemon. Lives on the daemon's loop.
package final class PairingAttemptLimiterBox {
    /// The rule and what has happened so far.
    var value = PairingAttemptLimiter()

    package init() {}
}
