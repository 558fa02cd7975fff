import HandoffControl
import HandoffHandlers
import HandoffModel
import HandoffPeers
import HandoffProtocol
import HandoffState
import LoopIO

/// The user's choices in notifications.
extension ControlService: NotificationServiceDelegate {
    /// Continues the activity that the user chose in a notification, as `Continue` of the control
    /// interface does.
    func continueChosen(
        _ offer: NotificationOffer, token: ActivationToken?, completion: @escaping (String?) -> Void
    ) {
        // The device may have changed the type or page of this offer, so that something else would
        // open it.
        if let present = offered(offer.activity, by: offer.device) {
            let present = notificationOffer(present)
            let isSame = present?.opener == offer.opener && (offer.limit == nil || present?.app == offer.app)
            guard isSame else {
                return completion("it has changed, and would now open in another app than the notification named")
            }
        }
        let caller = NotificationContinuation(
            onContinued: { [core] activity, missing in
                let note = activity?.kept.map { kept in
                    KeptNote(
                        kept, hasStreams: activity?.streams ?? false, isOwn: offer.device == core.accountStore.deviceID,
                        now: core.wallClock.secondsSince1970)
                }
                core.notifications.continued(offer, missing: missing, kept: note)
            },
            onNewer: { [unowned self] newer in
                let present = newer.here ? nil : offered(newer.activity, by: newer.device).flatMap(notificationOffer)
                let note = NewerNote(newer, offer: present, now: core.wallClock.secondsSince1970)
                core.notifications.foundNewer(note, than: offer)
            }, completion: completion)
        do {
            let request = ContinueRequest(
                activity: offer.activity.hex, from: offer.device.hex, older: offer.mayBeOlder ? true : nil)
            try begin(request, token: token, for: caller)
        } catch {
            caller.failed(CallError(error))
        }
    }

    /// Prepares an offer for display.
    func notificationOffer(_ offer: OfferedActivity) -> NotificationOffer? {
        NotificationOffer(offer, own: accountStore.deviceID, now: core.wallClock.secondsSince1970)
    }

    /// Notifies the origin that the user declined an item that was sent to this device.
    func decline(_ offer: NotificationOffer) {
        peers.notifyOrigin(offer.device, PeerMethod.wasDeclined, offer.activity)
    }

    /// Lets the user choose a folder for items.
    func saveAs(_ offers: [NotificationOffer], token: ActivationToken?) {
        let items = offers.map { SaveItemsRequest.Item(device: $0.device, activity: $0.activity) }
        installed.save(SaveItemsRequest(items: items, token: token)) { [core] result in
            guard case .failure(let failure) = result else { return }
            core.log.notice("Cannot open the window that saves items", ["error": failure.message])
        }
    }

    /// Opens a received file.
    func openFile(_ path: String, shows: Bool, token: ActivationToken?) {
        installed.openFile(path, shows: shows, token: token) { [core] result in
            guard case .failure(let failure) = result else { return }
            core.log.notice("Cannot open a received file", ["error": failure.message])
        }
    }

    /// Turns off the notifications of an app.
    func mute(_ app: AppID) {
        setApp(app.text, { $0.muted.insert($1) }) { [core] result in
            guard case .failure(let error) = result else { return }
            core.log.error("Cannot store that an app is muted", ["app": app.text, "error": "\(error)"])
        }
    }
}
