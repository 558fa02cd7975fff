import HandoffControl
import HandoffDesktop
import HandoffModel

/// What the user is told of the other devices, without asking.
extension DaemonCore {
    /// Continues what the user chose in a notification, as `Continue` of the control interface does.
    func continueChosen(
        _ offer: NotificationOffer, token: ActivationToken?, completion: @escaping (String?) -> Void
    ) {
        // Under the same id its device may have named another type or page since, which something else opens.
        if let present = control.offered(offer.activity, by: offer.device),
            NotificationOffer(present)?.opener != offer.opener
        {
            return completion("something else would open it now than the notification said")
        }
        let caller = NotificationContinuation(completion)
        do {
            let request = ContinueRequest(activity: offer.activity.hex, from: offer.device.hex)
            try control.begin(request, token: token, for: caller)
        } catch {
            caller.failed(CallError(error))
        }
    }
}
