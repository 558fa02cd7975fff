import HandoffControl
import HandoffControlServer
import HandoffDesktop
import HandoffDesktopClient
import HandoffHandlers
import HandoffLog
import HandoffModel
import HandoffPeers
import HandoffProtocol
import HandoffState

/// What the user chooses in notifications.
extension ControlService: NotificationServiceDelegate {
    /// Continues what the user chose in a notification, as `Continue` of the control interface does.
    func continueChosen(
        _ offer: NotificationOffer, token: ActivationToken?, completion: @escaping (String?) -> Void
    ) {
        // Under the same id its device may have named another type or page since, which something else opens.
        if let present = offered(offer.activity, by: offer.device),
            NotificationOffer(present)?.opener != offer.opener
        {
            return completion("something else would open it now than the notification said")
        }
        let caller = NotificationContinuation(completion)
        do {
            let request = ContinueRequest(activity: offer.activity.hex, from: offer.device.hex)
            try begin(request, token: token, for: caller)
        } catch {
            caller.failed(CallError(error))
        }
    }

    /// The user does not want an item that was sent to this device.
    func decline(_ offer: NotificationOffer) {
        peers.notifyOrigin(offer.device, PeerMethod.wasDeclined, offer.activity)
    }

    /// The user wants to see a file that has come.
    func openFile(_ path: String, shows: Bool, token: ActivationToken?) {
        core.installed.openFile(path, shows: shows, token: token) { [core] result in
            guard case .failure(let failure) = result else { return }
            core.log.notice("Cannot open what came", ["error": failure.message])
        }
    }

    /// The user wants no more notifications of an app.
    func mute(_ app: AppID) {
        setApp(app.text, { $0.muted.insert($1) }) { [core] result in
            guard case .failure(let error) = result else { return }
            core.log.error("Cannot store that an app is muted", ["app": app.text, "error": "\(error)"])
        }
    }
}
