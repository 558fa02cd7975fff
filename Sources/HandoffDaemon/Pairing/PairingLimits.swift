internal import HandoffModel
import HandoffTransport

/// Resource limits and timeouts of pairing. Tests reduce them.
package struct PairingLimits: Sendable {
    /// Limits for single connections and for the joiner's call.
    var transport = TransportLimits.pairing
    /// Maximum number of connections that are still sending a refusal.
    var ending = 16
    /// Maximum number of instances on the network that a joiner remembers.
    package var instances = 64
    /// The time that a joiner searches before it reports that no device is inviting.
    var search: Duration = .seconds(30)
    /// The time after its start that a joiner waits for more inviters when all known inviters have
    /// refused it.
    var settling: Duration = .seconds(3)
    /// Time limit of an attempt to join: as long as a window can be open.
    var join: Duration = Limits.pairingWindowLifetime
    /// Delay before a joiner calls the same inviter again: minimum and maximum.
    var retry: (minDelay: Duration, maxDelay: Duration) = (.milliseconds(50), .seconds(1))

    /// Creates the limits of the protocol.
    package init() {}
}

extension TransportLimits {
    /// Limits for pairing, where any host on the network may connect, and no peer is authenticated
    /// until it has proved the code.
    fileprivate static var pairing: TransportLimits {
        var limits = TransportLimits()
        limits.maxUngated = 32
        limits.maxUngatedPerSource = .max
        limits.gateTimeout = .seconds(2)
        // The time limits of `PairingWindow` and of the joiner's call include the TLS handshake.
        limits.handshakeTimeout = nil
        limits.lingerTimeout = .seconds(1)
        // Failed peers must not hold our sockets. The alert has been sent, and arrives unless the
        // peer sent more data.
        limits.alertTimeout = .zero
        limits.maxAttemptsPerAddress = .max
        limits.headStart = .milliseconds(250)
        limits.dialTimeout = .seconds(5)
        return limits
    }
}
