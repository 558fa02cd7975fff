import HandoffDiscovery
import LoopIO

/// The state of each kind of discovery, for `status`. Plain values.
struct DiscoveryStates {
    private var states: [DiscoveryKind: DiscoveryState] = [:]

    /// Records a state reported by a discovery.
    mutating func note(_ kind: DiscoveryKind, _ state: DiscoveryState, log: Logger) {
        guard states[kind] != state else { return }
        states[kind] = state
        switch state {
        case .starting: log.debug("Discovery is starting", ["kind": kind.rawValue])
        case .running: log.info("Discovery is running", ["kind": kind.rawValue])
        case .impaired(let reason):
            log.notice("Discovery is impaired", ["kind": kind.rawValue, "reason": reason])
        case .unavailable(let reason):
            log.notice("Discovery is not available", ["kind": kind.rawValue, "reason": reason])
        }
    }

    /// Returns the state of a kind.
    func state(of kind: DiscoveryKind) -> DiscoveryState { states[kind] ?? .starting }

    /// Returns the state of a kind as a word or a phrase.
    func text(of kind: DiscoveryKind) -> String {
        switch state(of: kind) {
        case .starting: "starting"
        case .running: "running"
        case .impaired(let reason): "impaired: \(reason)"
        case .unavailable(let reason): "unavailable: \(reason)"
        }
    }
}
