package import HandoffTransport

/// What pairing may cost, and how long each step may take; tests make these small.
package struct PairingLimits: Sendable {
    /// What single connections may cost, and the joiner's call.
    package var transport = TransportLimits.pairing
    /// Refusals that are still on their way to those who were refused.
    package var ending = 16
    /// Instances on the network that a joiner remembers.
    package var instances = 64
    /// How long a joiner looks for somebody who invites before it says that there is nobody.
    package var search: Duration = .seconds(30)
    /// How long after its start a joiner waits for more inviters when all that it has found have refused it.
    package var settling: Duration = .seconds(3)
    /// How long a joiner goes on in all: as long as a window may be open.
    package var join: Duration = .seconds(180)
    /// How soon a joiner calls the same inviter again, at first and at most.
    package var retry: (first: Duration, most: Duration) = (.milliseconds(50), .seconds(1))

    /// The limits of the protocol.
    package init() {}
}

extension TransportLimits {
    /// Those of pairing, where anyone on the network may connect, and nobody has proved anything until the code is proved.
    fileprivate static var pairing: TransportLimits {
        var limits = TransportLimits()
        limits.ungated = 32
        limits.ungatedPerSource = .max
        limits.gate = .seconds(2)
        // `PairingWindow` and the joiner's call count TLS into their time.
        limits.handshake = nil
        limits.linger = .seconds(1)
        // Nobody may hold sockets of ours by failing. An alert has left, and arrives unless more was sent to us.
        limits.alert = .zero
        limits.attemptsPerAddress = .max
        limits.headStart = .milliseconds(250)
        limits.dial = .seconds(5)
        return limits
    }
}
