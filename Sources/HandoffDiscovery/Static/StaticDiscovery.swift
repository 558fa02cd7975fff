package import LoopIO

/// Configured peers, for networks without multicast. Names are resolved on a dedicated thread,
/// because getaddrinfo(3) blocks.
///
/// Each peer is a `.service` with a port and addresses, without text. It is reported again after
/// every `refresh`, at intervals that grow while nothing changes. A failed lookup is retried in the
/// same way.
package final class StaticDiscovery: Discovery {
    private let thread = DiscoveryThread<StaticRole.Command>(name: "static-peers")
    private let logger: Logger

    package let kind = DiscoveryKind.static

    package init(peers: [StaticPeer], logger: Logger) {
        self.logger = logger
        for peer in peers { add(peer) }
    }

    package func start(_ onEvent: @escaping @Sendable (DiscoveryEvent) -> Void) {
        let report: @Sendable (String) -> Void = { [kind] in onEvent(.state(kind, .unavailable($0))) }
        let isStarted = thread.start(onShortage: report) { [logger] loop in
            StaticRole(loop: loop, logger: logger, onEvent: onEvent)
        }
        if !isStarted { report("cannot create a thread") }
    }

    /// Adds a peer. A known peer is not reported again.
    package func add(_ peer: StaticPeer) { thread.send(.add(peer)) }

    package func remove(_ peer: StaticPeer) { thread.send(.remove(peer)) }

    /// Does nothing, because the other device has its own configuration.
    package func publish(_ publication: Publication?) {}

    /// Does nothing, because configured peers are always used.
    package func setMembership(_ isMember: @escaping @Sendable (String) -> Bool) {}

    package func refresh(instance: String) { thread.send(.refresh(instance)) }

    /// Resolves the name of a peer again and reports it, immediately unless this was done very
    /// recently. A peer without a name is ignored.
    package func lookUp(instance: String) { thread.send(.lookUp(instance)) }

    package func stop(_ done: @escaping @Sendable () -> Void) {
        if !thread.send(.stop(done)) { done() }
    }
}
