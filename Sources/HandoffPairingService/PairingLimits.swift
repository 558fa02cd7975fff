/// What pairing may cost, and how long each step may take; tests make these small.
package struct PairingLimits: Sendable {
    /// Connections that have not said enough to begin TLS.
    package var openings = 32
    /// From the TCP connection until a joiner has said enough to begin TLS: bytes that drip do not extend it.
    package var opening: Duration = .seconds(2)
    /// Refusals that are still on their way to those who were refused.
    package var farewells = 16
    /// How much later the joiner tries the next address beside those that have not answered.
    package var headStart: Duration = .milliseconds(250)
    /// From the joiner's call until TLS is set up.
    package var call: Duration = .seconds(5)
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
