/// What a discovery tells its owner; plain values only.
package enum DiscoveryEvent: Sendable, Equatable {
    /// An implementation came, went, or began.
    case state(DiscoveryKind, DiscoveryState)
    /// All that is known of an instance that is new or changed. It may be repeated without a change after Avahi
    /// came back.
    case service(DiscoveredService)
    /// The last record of an instance went away on its last interface. In mDNS anyone can make that happen, so it is
    /// a reason to probe, not a proof.
    case removed(instance: String)
    /// What the caches knew has been reported, and nothing more is expected soon.
    case allForNow
    /// Somebody else publishes under our name; a new one is needed.
    case conflict(instance: String)
    /// The set of this machine's own addresses changed.
    case networkChanged
}
