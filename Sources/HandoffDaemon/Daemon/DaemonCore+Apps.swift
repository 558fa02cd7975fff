import HandoffConfiguration
import HandoffControl
import HandoffDesktop
import HandoffDesktopClient
import HandoffHandlers
import HandoffLog
import HandoffModel
import HandoffPeers
import HandoffProtocol
import HandoffState
import LoopIO

/// What is on offer here, and by which apps, as far as it is switched on.
extension DaemonCore {
    /// The local offers, most recent first, as far as they may be announced.
    var localOffers: [OfferedActivity] {
        guard switches.allows(.advertise) else { return [] }
        return apps.offers().filter { switches.policy.forbids($0.type) == nil }
    }

    /// Tells who chooses apps which of them the user has switched off, or the administrator forbids.
    func disableApps() {
        installed.setDisabled(appSwitches.disabled.union(switches.policy.forbiddenApps.compactMap { AppID($0) }))
    }

    /// Something is allowed, or forbidden, that was not before.
    func switchesChanged() {
        disableApps()
        peers.advertisingChanged()
        control.offersChanged()
    }

    /// Takes which apps are switched off: what they publish is on offer no more, and they continue nothing; and those of which
    /// no notification is shown.
    func takeAppSwitches(_ switches: AppSwitches) {
        appSwitches = switches
        disableApps()
        peers.offersChanged()
        control.offersChanged()
    }

    /// Stores which app claimed what first. Without it the order is another after a restart, and nothing else.
    func store(_ claims: ClaimHistory) {
        worker.run({ [folder = stored.folder] in try folder.store(claims: claims) }, on: loop) { [weak self] result in
            guard case .failure(let error) = result else { return }
            self?.log.error("Cannot store which app was here first", ["error": "\(error)"])
        }
    }
}
