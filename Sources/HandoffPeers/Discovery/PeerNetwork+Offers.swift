import HandoffAccount
import HandoffLog
import HandoffModel
import HandoffProtocol
import HandoffState

/// Which device is told of which activities, as the configuration, the policy and the switches let it.
extension PeerNetwork {
    private var unadvertised: Set<DeviceID> { peers?.unadvertised ?? [] }

    /// Announces more or less of the local offers.
    func show(_ advertising: Advertising) {
        self.advertising = advertising
        say(renewed: .offers)
        beacons.changed()
    }

    /// What this device tells the others of what it offers: nothing while it leaves, lacks the key in force, or was told
    /// to advertise nothing.
    func announcedOffers() -> [OfferedActivity] {
        farewell != nil || !snapshot.isCurrent || advertising.reach == .none ? [] : shownOffers()
    }

    /// What one device is told of them.
    func announcedOffers(to device: DeviceID) -> [OfferedActivity] {
        unadvertised.contains(device) ? [] : announcedOffers().filter { $0.isMeant(for: device) }
    }

    /// Whether the beacon, which all members read, lists activities.
    var listsInBeacon: Bool { advertising.reach == .all && unadvertised.isEmpty }

    /// What may be told to whom has changed: all hear it at once, also those for whom nothing new is said.
    func switchesChanged() {
        say(renewed: .offers)
        beacons.changed()
    }

    /// The latest advert, as one device gets it.
    func advert(for device: DeviceID?) -> SignedAdvert? {
        guard let device else { return announcer.advert }
        do {
            return try unadvertised.contains(device) ? announcer.emptyAdvert() : announcer.advert(for: device)
        } catch {
            log.fault("Cannot sign an announcement", ["error": "\(error)"])
            return nil
        }
    }

    private func shownOffers() -> [OfferedActivity] {
        let offers = peers?.delegate?.localOffers ?? []
        guard !advertising.showsTitles else { return offers }
        return offers.map {
            OfferedActivity(
                id: $0.id, type: $0.type, title: nil, team: $0.team, supportsStreams: $0.supportsStreams,
                hasWebpageURL: $0.hasWebpageURL, age: $0.age, recipient: $0.recipient)
        }
    }
}
