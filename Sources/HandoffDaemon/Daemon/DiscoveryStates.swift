import HandoffDiscovery
import HandoffLog

/// How each kind of discovery fares, for `status`. Plain values.
struct DiscoveryStates {
    private var states: [DiscoveryKind: DiscoveryState] = [:]

    /// Takes what a discovery says of itself.
    mutating func note(_ kind: DiscoveryKind, _ state: DiscoveryState, log: Logger) {
        guard states[kind] != state else { return }
        states[kind] = state
        switch state {
        case .starting: log.debug("Discovery starts", ["kind": kind.rawValue])
        case .running: log.info("Discovery runs", ["kind": kind.rawValue])
        case .impaired(let reason):
            log.notice("Discovery is impaired", ["kind": kind.rawValue, "reason": reason])
        case .unavailable(let reason):
            log.notice("Discovery is not available", ["kind": kind.rawValue, "reason": reason])
        }
    }

    /// How a kind fares.
    func state(of kind: DiscoveryKind) -> DiscoveryState { states[kind] ?? .starting }

    /// How a kind fares, in a word or a fragment.
    func text(of kind: DiscoveryKind) -> String {
        switch state(of: kind) {
        case .starting: "starting"
        case .running: "running"
        case .impaired(let reason): "impaired: \(reason)"
        case .unavailable(let reason): "unavailable: \(reason)"
        }
    }
}
