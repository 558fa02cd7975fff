import DesktopBus
import HandoffControl

/// Tells those who follow a state that a bus tells of: now, and after each change. It is followed from the first of them on. On the
/// loop's thread.
final class StateRelay<State: ControlMessage> {
    private let begin: (@escaping (State) -> Void) -> any BusSource
    private var source: (any BusSource)?
    /// What was said last; nil while nothing was.
    private var latest: State?
    private var followers: [ObjectIdentifier: DesktopCall] = [:]

    /// - Parameter begin: begins to follow the state; what it gets is to be told of each.
    init(_ begin: @escaping (@escaping (State) -> Void) -> any BusSource) {
        self.begin = begin
    }

    /// Answers a call with the state, now and after each change.
    func follow(_ call: DesktopCall) {
        let key = ObjectIdentifier(call)
        followers[key] = call
        call.onClosed = { [weak self] in self?.followers[key] = nil }
        if let latest { call.replyContinuing(latest.json) }
        guard source == nil else { return }
        source = begin { [weak self] in self?.tell($0) }
    }

    /// Ends it.
    func stop() {
        source?.stop()
        source = nil
        latest = nil
    }

    private func tell(_ state: State) {
        latest = state
        for call in followers.values { call.replyContinuing(state.json) }
    }
}
