/// The services known to each of two implementations, so that switching between them does not
/// remove a service that the other one still knows. A plain value.
package struct MergedServices: Sendable {
    private var known: [String: [DiscoveryKind: DiscoveredService]] = [:]

    package init() {}

    /// Records a service found by one implementation. Returns the service to report, completed with
    /// information from the other implementation.
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

    /// Removes a service lost by one implementation. Returns true if no implementation knows it any
    /// more.
    package mutating func remove(_ instance: String, from source: DiscoveryKind) -> Bool {
        guard known[instance]?.removeValue(forKey: source) != nil else { return false }
        guard known[instance]?.isEmpty == true else { return false }
        known[instance] = nil
        return true
    }

    /// Removes an implementation that is no longer used. Returns, in order, the instances that only
    /// it knew.
    package mutating func drop(_ source: DiscoveryKind) -> [String] {
        known.keys.sorted().filter { remove($0, from: source) }
    }
}
