package import HandoffLog
import LoopIO

/// Peers from the configuration, for networks without multicast. Names are looked up on a thread of their own, since
/// getaddrinfo(3) waits.
///
/// Each peer is one `.service` with port and addresses and without text. It is told again after every `refresh`, at
/// intervals that grow as long as nothing changes; a look-up that fails is repeated in the same way.
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
        if !isStarted { report("no thread for it") }
    }

    /// One more peer; a known one is not told again.
    package func add(_ peer: StaticPeer) { thread.send(.add(peer)) }

    /// One peer less.
    package func remove(_ peer: StaticPeer) { thread.send(.remove(peer)) }

    /// Nothing: the other side has its own configuration.
    package func publish(_ publication: Publication?) {}

    /// Nothing: who is configured is always asked.
    package func setMembership(_ isMember: @escaping @Sendable (String) -> Bool) {}

    package func refresh(instance: String) { thread.send(.refresh(instance)) }

    /// Looks the name of a peer up again and tells it, at once if that was not done just before; a peer without a name is left alone.
    package func lookUp(instance: String) { thread.send(.lookUp(instance)) }

    package func stop(_ done: @escaping @Sendable () -> Void) {
        if !thread.send(.stop(done)) { done() }
    }
}
