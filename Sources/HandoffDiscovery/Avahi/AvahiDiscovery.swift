package import LoopIO

/// Discovery through the system's avahi-daemon. It tolerates a missing, restarted or crashed
/// daemon.
package final class AvahiDiscovery: Discovery {
    private let thread = DiscoveryThread<DiscoveryCommand>(name: "avahi")
    private let options: DiscoveryOptions
    private let logger: Logger

    package let kind = DiscoveryKind.avahi

    package init(options: DiscoveryOptions, logger: Logger) {
        self.options = options
        self.logger = logger
    }

    package func start(_ onEvent: @escaping @Sendable (DiscoveryEvent) -> Void) {
        let report: @Sendable (String) -> Void = { [kind] in onEvent(.state(kind, .unavailable($0))) }
        let isStarted = thread.start(onShortage: report) { [options, logger] loop in
            MulticastDriver(
                loop: loop, library: AvahiLibrary(loop: loop, options: options), options: options, logger: logger,
                onEvent: onEvent)
        }
        if !isStarted { report("cannot create a thread") }
    }

    package var ownAddresses: [IPAddress] { options.presentAddresses }

    package func publish(_ publication: Publication?) { thread.send(.publish(publication)) }

    package func setMembership(_ isMember: @escaping @Sendable (String) -> Bool) {
        thread.send(.setMembership(isMember))
    }

    package func refresh(instance: String) { thread.send(.refresh(instance)) }

    package func stop(_ done: @escaping @Sendable () -> Void) {
        if !thread.send(.stop(done)) { done() }
    }
}
