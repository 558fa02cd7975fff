package import HandoffHandlers

/// Performs the user's choices in notifications. Called on the daemon's loop.
package protocol NotificationServiceDelegate: AnyObject {
    /// Continues an activity.
    ///
    /// - Parameters:
    ///   - token: The activation token that lets the app come to the front.
    ///   - completion: Called once, with the reason if it was not continued, as a lower-case
    ///     sentence fragment; otherwise nil.
    func continueChosen(
        _ offer: NotificationOffer, token: ActivationToken?, completion: @escaping (String?) -> Void)

    /// Notifies the device that sent an item that the user declined it.
    func decline(_ offer: NotificationOffer)

    /// Lets the user choose a folder for items, in which they are saved.
    ///
    /// - Parameter token: The activation token that lets the window come to the front.
    func saveAs(_ offers: [NotificationOffer], token: ActivationToken?)

    /// Opens a received file, or shows it in its folder.
    ///
    /// - Parameter token: The activation token that lets the program come to the front.
    func openFile(_ path: String, shows: Bool, token: ActivationToken?)

    /// Stops showing notifications of an app.
    func mute(_ app: AppID)
}
