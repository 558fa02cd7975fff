package import HandoffDesktop
package import HandoffHandlers

/// Does what the user has chosen in a notification. On the daemon's loop.
package protocol NotificationServiceDelegate: AnyObject {
    /// Continues an activity.
    ///
    /// - Parameters:
    ///   - token: lets the app come to the front.
    ///   - completion: called once: why it was not continued, as a lower-case fragment, or nil when it was.
    func continueChosen(
        _ offer: NotificationOffer, token: ActivationToken?, completion: @escaping (String?) -> Void)

    /// Notifies the device that sent an item that the user here does not want it.
    func decline(_ offer: NotificationOffer)

    /// Opens a file that has come, or shows it in its folder.
    ///
    /// - Parameter token: lets the program come to the front.
    func openFile(_ path: String, shows: Bool, token: ActivationToken?)

    /// No notification of an app is shown any more.
    func mute(_ app: AppID)
}
