package import HandoffControl
import HandoffModel

/// What the other devices offer, as clients are shown it; tells what changed. Plain values.
package struct OfferTable: Sendable {
    private struct Key: Hashable {
        let device: DeviceID
        let id: ActivityID
    }

    private var shown: [Key: ControlActivity] = [:]

    /// A table without offers.
    package init() {}

    /// Puts up what is on offer now.
    ///
    /// - Returns: the difference to before, removals first; ages alone are no change.
    package mutating func update(_ offers: [ControlActivity]) -> [WatchEvent] {
        var next: [Key: ControlActivity] = [:]
        for offer in offers { next[Key(device: offer.device, id: offer.id)] = offer }
        var events: [WatchEvent] = []
        for (key, old) in shown where next[key] == nil {
            events.append(.removed(old))
        }
        for offer in offers {
            guard let old = shown[Key(device: offer.device, id: offer.id)] else {
                events.append(.added(offer))
                continue
            }
            var sameAge = offer
            sameAge.age = old.age
            if sameAge != old { events.append(.changed(offer)) }
        }
        shown = next
        return events
    }
}
