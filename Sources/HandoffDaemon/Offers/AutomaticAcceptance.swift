package import HandoffHandlers
package import HandoffModel

/// Selects the sent files that are saved without a prompt. Plain values.
///
/// These are the files of devices that the user has chosen, when they are first offered, if the
/// downloads app would receive them. That app saves only documents up to the limit, and refuses
/// everything else, for which the user is then prompted.
package struct AutomaticAcceptance: Sendable {
    /// The only app that receives items without a user's decision. It opens nothing.
    package static let app = AppID("dev.handoff1.files")

    /// The items that each device already offers.
    private var known: [DeviceID: Set<ActivityID>] = [:]

    package init() {}

    /// Returns the files to accept now, oldest first, with their limits.
    ///
    /// - Parameters:
    ///   - offers: The present offers, newest first.
    ///   - devices: The devices whose offers these are; nil for all.
    ///   - limits: The maximum size in bytes for each chosen device.
    package mutating func choose(
        _ offers: [NotificationOffer], of devices: Set<DeviceID>? = nil, limits: [DeviceID: Int64]
    ) -> [NotificationOffer] {
        let former = known
        let present = Dictionary(grouping: offers.filter(\.isSent), by: \.device).mapValues { Set($0.map(\.activity)) }
        for device in devices ?? Set(known.keys).union(present.keys) { known[device] = present[device] }
        return offers.reversed().compactMap { offer in
            guard offer.isSent, offer.isFile, offer.app == Self.app, let limit = limits[offer.device],
                former[offer.device]?.contains(offer.activity) != true
            else { return nil }
            var accepted = offer
            accepted.limit = limit
            return accepted
        }
    }
}
