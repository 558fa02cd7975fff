package import HandoffHandlers
package import LoopIO

/// A notification server or a substitute for one. Use on the daemon's loop; never blocks.
package protocol NotificationServing: AnyObject {
    /// Requests the server's capabilities; nil if there is no server. `completion` is called once,
    /// unless `gone` is reported before.
    func ask(_ completion: @escaping ([String]?) -> Void)

    /// Shows a notification, in place of the one with an id, 0 for none. `completion` receives its
    /// id, or nil if it is not shown.
    func show(_ notification: DesktopNotification, replacing former: UInt32, completion: @escaping (UInt32?) -> Void)

    /// Removes a notification from the screen.
    func withdraw(_ id: UInt32)

    /// Disconnects from the server. Nothing is reported afterwards.
    func stop()
}

/// Finds a notification server on a loop. Reports its events, not inside this call.
package typealias NotificationServerFinding =
    (EventLoop, @escaping (NotificationEvent) -> Void) -> any NotificationServing
