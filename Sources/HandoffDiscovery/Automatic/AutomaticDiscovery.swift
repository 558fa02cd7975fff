package import LoopIO

/// Uses the system's avahi-daemon if it runs or can be started, and otherwise the embedded
/// responder. It switches when Avahi starts or stops.
package final class AutomaticDiscovery: Discovery {
    private let thread = DiscoveryThread<AutomaticRole.Command>(name: "discovery")
    private let current = Locked(DiscoveryKind.none)
    private let avahi: any Discovery
    private let embedded: @Sendable () -> any Discovery
    private let logger: Logger

    /// - Parameter embedded: Creates an embedded responder that is not started. Called each time
    ///   one is needed.
    package convenience init(
        options: DiscoveryOptions, logger: Logger, embedded: @escaping @Sendable () -> any Discovery
    ) {
        self.init(avahi: AvahiDiscovery(options: options, logger: logger), embedded: embedded, logger: logger)
    }

    /// - Parameter avahi: The discovery through the system's Avahi, not started yet.
    package init(avahi: any Discovery, embedded: @escaping @Sendable () -> any Discovery, logger: Logger) {
        self.avahi = avahi
        self.embedded = embedded
        self.logger = logger
    }

    package var kind: DiscoveryKind { current.withLock { $0 } }

    package func start(_ onEvent: @escaping @Sendable (DiscoveryEvent) -> Void) {
        let report: @Sendable (String) -> Void = { onEvent(.state(.none, .unavailable($0))) }
        let isStarted = thread.start(onShortage: report) { [thread, current, avahi, embedded, logger] loop in
            AutomaticRole(
                loop: loop, avahi: avahi, embedded: embedded, logger: logger, thread: thread, current: current,
                onEvent: onEvent)
        }
        if !isStarted { report("cannot create a thread") }
    }

    package var ownAddresses: [IPAddress] { avahi.ownAddresses }

    package func publish(_ publication: Publication?) { thread.send(.owner(.publish(publication))) }

    package func setMembership(_ isMember: @escaping @Sendable (String) -> Bool) {
        thread.send(.owner(.setMembership(isMember)))
    }

    package func refresh(instance: String) { thread.send(.owner(.refresh(instance))) }

    package func stop(_ done: @escaping @Sendable () -> Void) {
        if !thread.send(.owner(.stop(done))) { done() }
    }
}
