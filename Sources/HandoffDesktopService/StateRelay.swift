import DesktopBus
import HandoffControl

/// Relays a state from a bus to followers: its current value, and each change. The first follower
/// starts the subscription. Use on the loop's thread.
final class StateRelay<State: ControlMessage> {
    private let begin: (@escaping (State) -> Void) -> any BusSource
    private var source: (any BusSource)?
    /// The most recent state; nil if none is known.
    private var latest: State?
    private var followers: [ObjectIdentifier: DesktopCall] = [:]

    /// - Parameter begin: Starts following the state, and reports it through the given closure.
    init(_ begin: @escaping (@escaping (State) -> Void) -> any BusSource) {
        self.begin = begin
    }

    /// Replies with the state, now and after each change.
    func follow(_ call: DesktopCall) {
        let key = ObjectIdentifier(call)
        followers[key] = call
        call.onClosed = { [weak self] in self?.followers[key] = nil }
        if let latest { call.replyContinuing(latest.json) }
        guard source == nil else { return }
        source = begin { [weak self] in self?.relay($0) }
    }

    /// Ends the subscription.
    func stop() {
        source?.stop()
        source = nil
        latest = nil
    }

    private func relay(_ state: State) {
        latest = state
        for call in followers.values { call.replyContinuing(state.json) }
    }
}
