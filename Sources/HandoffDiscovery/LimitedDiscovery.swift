package import LoopIO

/// A discovery whose interfaces can be changed. With no interfaces, it sends no queries, responses
/// or announcements.
///
/// Its methods must be called from one thread. Its events arrive on the threads of the discoveries
/// that it creates.
package final class LimitedDiscovery: Discovery {
    /// Creates a discovery, not yet started, on these interfaces, or for nil on the configured
    /// ones.
    package typealias Factory = @Sendable (_ interfaces: [String]?) -> any Discovery

    private struct State {
        var inner: (any Discovery)?
        var interfaces: [String]?
        var publication: Publication?
        var isMember: (@Sendable (String) -> Bool)?
        var deliver: (@Sendable (DiscoveryEvent) -> Void)?
        /// The number of the current discovery. Events of former ones are dropped.
        var number: UInt64 = 0
        /// The instances that the current discovery has found.
        var found: Set<String> = []
    }

    private let make: Factory
    private let state: Locked<State>

    /// Creates a discovery on the configured interfaces, until it is limited.
    package init(make: @escaping Factory) {
        self.make = make
        state = Locked(State(inner: make(nil)))
    }

    package var kind: DiscoveryKind { state.withLock { $0.inner }?.kind ?? .none }

    package var ownAddresses: [IPAddress] { state.withLock { $0.inner }?.ownAddresses ?? [] }

    package func limit(to interfaces: [String]?) {
        guard state.withLock({ $0.interfaces }) != interfaces else { return }
        let next = interfaces?.isEmpty == true ? nil : make(interfaces)
        let former = state.withLock { state in
            defer {
                state.inner = next
                state.interfaces = interfaces
                state.number &+= 1
                state.found = []
            }
            return state
        }
        former.inner?.stop {}
        for instance in former.found.sorted() { former.deliver?(.removed(instance: instance)) }
        if let isMember = former.isMember { next?.setMembership(isMember) }
        next?.publish(former.publication)
        if let deliver = former.deliver { start(next, deliver) }
    }

    package func start(_ onEvent: @escaping @Sendable (DiscoveryEvent) -> Void) {
        let inner = state.withLock { state in
            state.deliver = onEvent
            return state.inner
        }
        start(inner, onEvent)
    }

    private func start(_ inner: (any Discovery)?, _ deliver: @escaping @Sendable (DiscoveryEvent) -> Void) {
        let number = state.withLock { $0.number }
        inner?.start { [weak self] event in
            if self?.record(event, of: number) == true { deliver(event) }
        }
    }

    /// Records the instance of an event. Returns false for an event of a former discovery.
    private func record(_ event: DiscoveryEvent, of number: UInt64) -> Bool {
        state.withLock { state in
            guard state.number == number else { return false }
            switch event {
            case .service(let service): state.found.insert(service.instance)
            case .removed(let instance): state.found.remove(instance)
            case .state, .allForNow, .conflict, .networkChanged: break
            }
            return true
        }
    }

    package func publish(_ publication: Publication?) {
        state.withLock { state in
            state.publication = publication
            return state.inner
        }?.publish(publication)
    }

    package func setMembership(_ isMember: @escaping @Sendable (String) -> Bool) {
        state.withLock { state in
            state.isMember = isMember
            return state.inner
        }?.setMembership(isMember)
    }

    package func refresh(instance: String) {
        state.withLock { $0.inner }?.refresh(instance: instance)
    }

    package func stop(_ done: @escaping @Sendable () -> Void) {
        guard let inner = state.withLock({ $0.inner }) else { return done() }
        inner.stop(done)
    }
}
