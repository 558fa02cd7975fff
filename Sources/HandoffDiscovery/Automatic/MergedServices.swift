/// What two implementations know of which instance, so that a change of implementation takes nothing back that the other
/// one still knows; plain values.
package struct MergedServices: Sendable {
    private var known: [String: [DiscoveryKind: DiscoveredService]] = [:]

    package init() {}

    /// One of them knows it, or knows more. Returns what to tell: what this one does not know yet, the other one fills
    /// in.
    package mutating func add(_ service: DiscoveredService, from source: DiscoveryKind) -> DiscoveredService {
        known[service.instance, default: [:]][source] = service
        guard let other = known[service.instance]?.first(where: { $0.key != source })?.value else { return service }
        var merged = service
        merged.text = service.text ?? other.text
        if service.addresses.isEmpty {
            merged.port = other.port
            merged.addresses = other.addresses
        }
        return merged
    }

    /// One of them lost it. True when nobody knows it any more.
    package mutating func remove(_ instance: String, from source: DiscoveryKind) -> Bool {
        guard known[instance]?.removeValue(forKey: source) != nil else { return false }
        guard known[instance]?.isEmpty == true else { return false }
        known[instance] = nil
        return true
    }

    /// One of them is not used any more. Returns, in order, what only that one knew.
    package mutating func drop(_ source: DiscoveryKind) -> [String] {
        known.keys.sorted().filter { remove($0, from: source) }
    }
}
