package import HandoffDesktop
package import LoopIO

/// A notification server, or what stands for one. On the daemon's loop only; nothing of it waits.
package protocol NotificationServing: AnyObject {
    /// Asks what the server can do; the answer, nil when there is none, comes once, unless `gone` was told before.
    func ask(_ completion: @escaping ([String]?) -> Void)

    /// Shows a notification, in place of the one with an id, 0 for none; the answer is its id, or nil when it is not shown.
    func show(_ notification: DesktopNotification, replacing former: UInt32, completion: @escaping (UInt32?) -> Void)

    /// Takes a notification off the screen.
    func withdraw(_ id: UInt32)

    /// Ends it; nothing is told any more.
    func stop()
}

/// How a notification server is found: on a loop, telling what it says, and not inside this call.
package typealias NotificationServerFinding =
    (EventLoop, @escaping (NotificationEvent) -> Void) -> any NotificationServing
