package import HandoffControl
package import HandoffModel

/// The offers of other devices as clients last received them. Computes the changes. Plain values.
package struct OfferTable: Sendable {
    private var shown: [DeviceID: [ActivityID: OfferedActivity]] = [:]

    /// A table without offers.
    package init() {}

    /// Returns an offer with the times that clients last received, if they differ only because they are
    /// computed on each access.
    package func settled(_ offer: OfferedActivity) -> OfferedActivity {
        guard let kept = offer.kept, let former = shown[offer.device]?[offer.id]?.kept, kept.isNear(former) else {
            return offer
        }
        var settled = offer
        settled.kept = former
        return settled
    }

    /// Applies the current offers.
    ///
    /// - Parameters:
    /// - offers: most recent first.
    /// - devices: the devices whose offers these are; nil if they are all. The offers of other
    ///   devices stay unchanged, at no cost.
    /// - Returns: the changes, removals first. A change of age alone is not reported.
    package mutating func update(_ offers: [OfferedActivity], of devices: Set<DeviceID>? = nil) -> [WatchEvent] {
        var former: [DeviceID: [ActivityID: OfferedActivity]] = [:]
        for device in devices ?? Set(shown.keys) { former[device] = shown.removeValue(forKey: device) }
        var changes: [WatchEvent] = []
        for offer in offers {
            if let old = former[offer.device]?.removeValue(forKey: offer.id) {
                var sameAge = offer
                sameAge.age = old.age
                if sameAge != old { changes.append(.changed(offer)) }
            } else {
                changes.append(.added(offer))
            }
            shown[offer.device, default: [:]][offer.id] = offer
        }
        return former.values.flatMap(\.values).map(WatchEvent.removed) + changes
    }
}

extension ControlKept {
    /// True if the states are the same, and the times differ by less than two seconds.
    fileprivate func isNear(_ other: ControlKept) -> Bool {
        state == other.state && (since == nil) == (other.since == nil)
            && abs((since ?? 0) - (other.since ?? 0)) < 2 && abs(asOf - other.asOf) < 2
    }
}
