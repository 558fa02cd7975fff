package import HandoffDiscovery
package import LoopIO

/// Discovery through Avahi's responder inside this process, without a daemon or D-Bus. It is used
/// if no avahi-daemon runs, and on the loopback interface only (`interfaces == ["lo"]`) for
/// demonstrations and tests.
///
/// Only an orderly `stop` sends goodbye packets. If another responder runs on this machine, this
/// one would take its unicast responses, so do not run both for long.
package final class EmbeddedDiscovery: Discovery {
    private let thread = DiscoveryThread<DiscoveryCommand>(name: "avahi-core")
    private let options: DiscoveryOptions
    private let logger: Logger

    package let kind = DiscoveryKind.embedded

    package init(options: DiscoveryOptions, logger: Logger) {
        self.options = options
        self.logger = logger
    }

    package func start(_ onEvent: @escaping @Sendable (DiscoveryEvent) -> Void) {
        let report: @Sendable (String) -> Void = { [kind] in onEvent(.state(kind, .unavailable($0))) }
        let isStarted = thread.start(onShortage: report) { [options, logger] loop in
            let library = AvahiServerLibrary(loop: loop, options: options, logger: logger)
            return MulticastDriver(loop: loop, library: library, options: options, logger: logger, onEvent: onEvent)
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
