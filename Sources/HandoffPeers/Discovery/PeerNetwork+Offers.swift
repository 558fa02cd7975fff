import HandoffAccount
import HandoffModel
import HandoffProtocol
import HandoffState
import LoopIO

/// The activities announced to each device, by the configuration, the policy and the switches.
extension PeerNetwork {
    private var unadvertised: Set<DeviceID> { peers?.unadvertised ?? [] }

    /// Announces more or less of the local offers.
    func show(_ advertising: Advertising) {
        self.advertising = advertising
        announce(renewed: .offers)
        beacons.changed()
    }

    /// Returns the announced offers: none while this device leaves, lacks the key in force, or is
    /// configured to advertise nothing.
    func announcedOffers() -> [LocalOffer] {
        leaveReason != nil || !snapshot.isCurrent || advertising.reach == .none ? [] : shownOffers()
    }

    /// Returns the offers announced to one device.
    func announcedOffers(to device: DeviceID) -> [LocalOffer] {
        unadvertised.contains(device) ? [] : announcedOffers().filter { $0.isAddressed(to: device) }
    }

    /// True if the beacon, which all members read, lists activities.
    var listsInBeacon: Bool { advertising.reach == .all && unadvertised.isEmpty }

    /// Announces again after a change of the permitted offers or receivers, even to devices for
    /// which nothing has changed.
    func switchesChanged() {
        announce(renewed: .offers)
        beacons.changed()
    }

    /// Returns the latest advert for one device.
    func advert(for device: DeviceID?) -> SignedAdvert? {
        guard let device else { return announcer.advert }
        do {
            return try unadvertised.contains(device) ? announcer.emptyAdvert() : announcer.advert(for: device)
        } catch {
            log.fault("Cannot sign an announcement", ["error": "\(error)"])
            return nil
        }
    }

    private func shownOffers() -> [LocalOffer] {
        let offers = peers?.delegate?.localOffers ?? []
        guard !advertising.showsTitles else { return offers }
        return offers.map { offer in
            var untitled = offer
            untitled.activity.title = nil
            return untitled
        }
    }
}
