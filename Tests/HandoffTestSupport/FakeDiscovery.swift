package import HandoffDiscovery
package import LoopIO

/// The discovery of one daemon on a `FakeNetwork`. Tests forge what it tells, or make it deaf.
package final class FakeDiscovery: Discovery {
    private struct State {
        var onEvent: (@Sendable (DiscoveryEvent) -> Void)?
        var isMember: @Sendable (String) -> Bool = { _ in false }
        var publication: Publication?
        var publications = 0
        var announced: [String: Publication] = [:]
        var isDeaf = false
        var isSlow = false
        var withdrawal: (@Sendable () -> Void)?
    }

    private let network: FakeNetwork
    private let state = Locked(State())

    init(_ network: FakeNetwork) {
        self.network = network
    }

    package let kind = DiscoveryKind.embedded

    package let ownAddresses = [IPAddress.loopbackIPv4]

    package func start(_ onEvent: @escaping @Sendable (DiscoveryEvent) -> Void) {
        state.withLock { $0.onEvent = onEvent }
        onEvent(.state(kind, .running))
        look()
    }

    package func publish(_ publication: Publication?) {
        let former = state.withLock { state in
            defer { state.publication = publication }
            state.publications += publication == nil ? 0 : 1
            return state.publication
        }
        for other in network.others(than: self) {
            if let publication { network.deliver { other.hear(publication) } }
            if let former, former.instance != publication?.instance {
                network.deliver { other.lose(former.instance) }
            }
        }
    }

    package func setMembership(_ isMember: @escaping @Sendable (String) -> Bool) {
        state.withLock { $0.isMember = isMember }
        look()
    }

    package func refresh(instance: String) {
        for other in network.others(than: self) {
            if let publication = other.publication, publication.instance == instance { hear(publication) }
        }
    }

    package func stop(_ done: @escaping @Sendable () -> Void) {
        let waits = state.withLock { state in
            if state.isSlow { state.withdrawal = done }
            return state.isSlow
        }
        if !waits { end(done) }
    }

    private func end(_ done: @Sendable () -> Void) {
        publish(nil)
        network.remove(self)
        state.withLock { $0.onEvent = nil }
        done()
    }

    // MARK: - For tests

    /// What is published now.
    package var publication: Publication? { state.withLock { $0.publication } }

    /// How often something was published.
    package var publicationCount: Int { state.withLock { $0.publications } }

    /// Names of the members that this daemon was told of.
    package var known: Set<String> {
        let (announced, isMember) = state.withLock { ($0.announced.keys, $0.isMember) }
        return Set(announced.filter(isMember))
    }

    /// Tells the daemon something, true or not.
    package func emit(_ event: DiscoveryEvent) {
        state.withLock { $0.onEvent }?(event)
    }

    /// Takes its time to stop: until `withdraw`, it hears and tells as before.
    package func stopSlowly() {
        state.withLock { $0.isSlow = true }
    }

    /// Ends a slow stop.
    package func withdraw() {
        let done = state.withLock { state in
            defer { state.withdrawal = nil }
            return state.withdrawal
        }
        if let done { end(done) }
    }

    /// Hears nothing from now on, not even that something vanished.
    package func stopReceiving() {
        state.withLock { $0.isDeaf = true }
    }

    // MARK: - Hearing

    private func announced(_ instance: String) -> Publication? { state.withLock { $0.announced[instance] } }

    private func look() {
        for other in network.others(than: self) {
            guard let publication = other.publication, announced(publication.instance) != publication else { continue }
            network.deliver { self.hear(publication) }
        }
    }

    private func hear(_ publication: Publication) {
        // Strangers are told too, as long as there are few; and nothing is told twice.
        let isDeaf = state.withLock { state in
            let isDeaf = state.isDeaf || state.onEvent == nil
            if !isDeaf { state.announced[publication.instance] = publication }
            return isDeaf
        }
        guard !isDeaf else { return }
        emit(
            .service(
                DiscoveredService(
                    instance: publication.instance, text: publication.text, port: publication.port,
                    addresses: [SocketAddress(.loopbackIPv4, port: publication.port)])))
    }

    private func lose(_ instance: String) {
        let wasKnown = state.withLock { $0.announced.removeValue(forKey: instance) != nil && !$0.isDeaf }
        if wasKnown { emit(.removed(instance: instance)) }
    }
}
