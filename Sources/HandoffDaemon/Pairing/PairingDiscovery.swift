import HandoffDiscovery

/// Discovery of pairing windows. It is created when a window opens or a joiner searches, and ends
/// with it, so a daemon that is not pairing sends no queries for it. Lives on the daemon's loop.
final class PairingDiscovery {
    /// Creates a discovery of the pairing service without starting it.
    typealias Factory = @Sendable () -> any Discovery
    /// Passes an event from a discovery's thread to `take` on the loop, with the number of the
    /// listener.
    typealias Deliver = @Sendable (UInt64, DiscoveryEvent) -> Void

    /// The mDNS service type of pairing windows.
    static let serviceType = "_handoff-pair._tcp"

    /// One use of discovery, until it is closed.
    final class Station {
        /// Publishes and finds services.
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

        /// Withdraws the published services and stops delivering events.
        /// - Parameter done: called on discovery's thread when the withdrawals have been sent.
        func close(_ done: @escaping @Sendable () -> Void = {}) {
            guard isOpen else { return done() }
            isOpen = false
            pairingDiscovery?.handlers[number] = nil
            discovery.stop(done)
        }
    }

    /// The interfaces for subsequent uses, or nil for the configured ones.
    var interfaces: [String]?
    private let make: Factory?
    private let deliver: Deliver
    private var handlers: [UInt64: (DiscoveryEvent) -> Void] = [:]
    private var nextNumber: UInt64 = 0

    /// - Parameter make: nil if discovery is disabled.
    init(make: Factory?, deliver: @escaping Deliver) {
        self.make = make
        self.deliver = deliver
    }

    /// Starts publishing and finding. Returns nil without discovery. Events are delivered in later
    /// turns.
    ///
    /// - Parameter isMember: selects the instances of interest; called on discovery's thread.
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

    /// Handles a delivered event.
    func take(_ number: UInt64, _ event: DiscoveryEvent) {
        handlers[number]?(event)
    }
}
