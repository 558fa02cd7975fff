package import HandoffControl
package import HandoffModel

/// What the other devices offer, as clients are shown it; tells what changed. Plain values.
package struct OfferTable: Sendable {
    private var shown: [DeviceID: [ActivityID: ControlActivity]] = [:]

    /// A table without offers.
    package init() {}

    /// Puts up what is on offer now.
    ///
    /// - Parameters:
    ///   - offers: most recent first.
    ///   - devices: whose offers these are; what others offer stays as it is, and costs nothing. Nil: they are all.
    /// - Returns: the difference to before, removals first; ages alone are no change.
    package mutating func update(_ offers: [ControlActivity], of devices: Set<DeviceID>? = nil) -> [WatchEvent] {
        var former: [DeviceID: [ActivityID: ControlActivity]] = [:]
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
