/// Who of two implementations knows which instance, so that a change of implementation removes nothing that the other
/// one still sees; plain values.
package struct MergedServices: Sendable {
    private var sources: [String: Set<DiscoveryKind>] = [:]

    package init() {}

    /// One of them knows it.
    package mutating func add(_ instance: String, from source: DiscoveryKind) {
        sources[instance, default: []].insert(source)
    }

    /// One of them lost it. True when nobody knows it any more.
    package mutating func remove(_ instance: String, from source: DiscoveryKind) -> Bool {
        guard sources[instance]?.remove(source) != nil else { return false }
        guard sources[instance]?.isEmpty == true else { return false }
        sources[instance] = nil
        return true
    }

    /// One of them is not used any more. Returns, in order, what only that one knew.
    package mutating func drop(_ source: DiscoveryKind) -> [String] {
        sources.keys.sorted().filter { remove($0, from: source) }
    }
}
