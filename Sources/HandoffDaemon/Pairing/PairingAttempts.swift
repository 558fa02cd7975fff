import HandoffPairing

/// The limit on codes that may be tried, across all windows of a daemon. Lives on the daemon's
/// loop.
final class PairingAttempts {
    var value = PairingAttemptLimiter()

    init() {}
}
