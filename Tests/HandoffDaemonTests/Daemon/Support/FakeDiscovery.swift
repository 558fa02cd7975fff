import HandoffDiscovery
import LoopIO

/// The discovery of one daemon on a `FakeAir`. Tests forge what it tells, or make it deaf.
final class FakeDiscovery: Discovery {
    private struct State {
        var onEvent: (@Sendable (DiscoveryEvent) -> Void)?
        var isMember: @Sendable (String) -> Bool = { _ in false }
        var publication: Publication?
        var publications = 0
        var known: Set<String> = []
        var isDeaf = false
    }

    private let air: FakeAir
    private let state = Locked(State())

    init(_ air: FakeAir) {
        self.air = air
    }

    let kind = DiscoveryKind.embedded

    func start(_ onEvent: @escaping @Sendable (DiscoveryEvent) -> Void) {
        state.withLock { $0.onEvent = onEvent }
        onEvent(.state(kind, .running))
        look()
    }

    func publish(_ publication: Publication?) {
        let former = state.withLock { state in
            defer { state.publication = publication }
            state.publications += publication == nil ? 0 : 1
            return state.publication
        }
        for other in air.others(than: self) {
            if let publication { air.deliver { other.hear(publication) } }
            if let former, former.instance != publication?.instance {
                air.deliver { other.lose(former.instance) }
            }
        }
    }

    func setMembership(_ isMember: @escaping @Sendable (String) -> Bool) {
        state.withLock { $0.isMember = isMember }
        look()
    }

    func refresh(instance: String) {
        for other in air.others(than: self) {
            if let publication = other.publication, publication.instance == instance { hear(publication) }
        }
    }

    func stop(_ done: @escaping @Sendable () -> Void) {
        publish(nil)
        air.remove(self)
        state.withLock { $0.onEvent = nil }
        done()
    }

    // MARK: - For tests

    /// What is published now.
    var publication: Publication? { state.withLock { $0.publication } }

    /// How often something was published.
    var publicationCount: Int { state.withLock { $0.publications } }

    /// Names of the members that this daemon was told of.
    var known: Set<String> { state.withLock { $0.known } }

    /// Tells the daemon something, true or not.
    func emit(_ event: DiscoveryEvent) {
        state.withLock { $0.onEvent }?(event)
    }

    /// Hears nothing from now on, not even that something vanished.
    func goDeaf() {
        state.withLock { $0.isDeaf = true }
    }

    // MARK: - Hearing

    private func look() {
        for other in air.others(than: self) {
            guard let publication = other.publication, !known.contains(publication.instance) else { continue }
            air.deliver { self.hear(publication) }
        }
    }

    private func hear(_ publication: Publication) {
        // The membership closure is called outside the lock, as it is on a discovery's own thread.
        let (isMember, isDeaf) = state.withLock { ($0.isMember, $0.isDeaf || $0.onEvent == nil) }
        guard !isDeaf, isMember(publication.instance) else { return }
        state.withLock { _ = $0.known.insert(publication.instance) }
        emit(
            .service(
                DiscoveredService(
                    instance: publication.instance, text: publication.text, port: publication.port,
                    addresses: [SocketAddress(.loopbackIPv4, port: publication.port)])))
    }

    private func lose(_ instance: String) {
        let wasKnown = state.withLock { $0.known.remove(instance) != nil && !$0.isDeaf }
        if wasKnown { emit(.removed(instance: instance)) }
    }
}
