package import HandoffDiscovery

/// Discovery of pairing windows: made when a window opens or a joiner looks, and ended with it, so that a daemon that
/// pairs nobody asks nothing about it. Lives on the daemon's loop.
package final class PairingDiscovery {
    /// Makes a discovery of the pairing service that is not started.
    package typealias Factory = @Sendable () -> any Discovery
    /// Brings an event from a discovery's thread to `take` on the loop, with the number of the listener.
    package typealias Deliver = @Sendable (UInt64, DiscoveryEvent) -> Void

    /// The type of service of pairing windows.
    package static let serviceType = "_handoff-pair._tcp"

    /// One use of the air, until it is closed.
    final class Station {
        /// What publishes and finds.
        let discovery: any Discovery
        private let number: UInt64
        private weak var pairingDiscovery: PairingDiscovery?
        private var isOpen = true

        fileprivate init(_ discovery: any Discovery, _ number: UInt64, _ pairingDiscovery: PairingDiscovery) {
            self.discovery = discovery
            self.number = number
            self.pairingDiscovery = pairingDiscovery
        }

        deinit {
            close()
        }

        /// Withdraws what was published, and tells nothing any more.
        /// - Parameter done: called on discovery's thread when the goodbyes are on their way.
        func close(_ done: @escaping @Sendable () -> Void = {}) {
            guard isOpen else { return done() }
            isOpen = false
            pairingDiscovery?.handlers[number] = nil
            discovery.stop(done)
        }
    }

    /// The interfaces to use from the next use on; nil for those that are configured.
    package var interfaces: [String]?
    private let make: Factory?
    private let deliver: Deliver
    private var handlers: [UInt64: (DiscoveryEvent) -> Void] = [:]
    private var nextNumber: UInt64 = 0

    /// - Parameter make: nil where nothing is discovered.
    package init(make: Factory?, deliver: @escaping Deliver) {
        self.make = make
        self.deliver = deliver
    }

    /// Begins to publish and to find; nil where nothing is discovered. What is found is told in later turns.
    ///
    /// - Parameter isMember: which instances are of interest; called on discovery's thread.
    func open(
        isMember: @escaping @Sendable (String) -> Bool, _ handler: @escaping (DiscoveryEvent) -> Void
    ) -> Station? {
        guard let discovery = make?() else { return nil }
        let number = nextNumber
        nextNumber &+= 1
        handlers[number] = handler
        discovery.limit(to: interfaces)
        discovery.setMembership(isMember)
        discovery.start { [deliver] in deliver(number, $0) }
        return Station(discovery, number, self)
    }

    /// Takes what was delivered.
    package func take(_ number: UInt64, _ event: DiscoveryEvent) {
        handlers[number]?(event)
    }
}
