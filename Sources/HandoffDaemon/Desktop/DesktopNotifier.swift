import HandoffControl
package import HandoffDesktop
import HandoffJSON

/// The desktop's notification server. On the daemon's loop.
package final class DesktopNotifier: NotificationServing {
    private let desktop: DesktopLink
    private let onEvent: (NotificationEvent) -> Void
    private var following: DesktopLink.Following?
    private var isConnected = false

    /// Begins to look for a server.
    ///
    /// - Parameter onEvent: called from the loop, never inside a call of this object.
    package init(_ desktop: DesktopLink, onEvent: @escaping (NotificationEvent) -> Void) {
        self.desktop = desktop
        self.onEvent = onEvent
        following = desktop.follow(.followNotifications) { [weak self] in self?.told($0) }
    }

    private func told(_ news: DesktopLink.News) {
        switch news {
        case .reply(let fields):
            guard let event = try? NotificationEvent(Fields(fields)) else { return }
            isConnected = true
            onEvent(event)
        case .lost, .missing:
            // Whoever showed something is gone; what the next one shows is new.
            guard isConnected else { return }
            isConnected = false
            onEvent(.gone)
        }
    }

    package func ask(_ completion: @escaping ([String]?) -> Void) {
        desktop.call(.getNotificationServer) {
            completion((try? Fields($0.get()).optionalTexts("capabilities")) ?? nil)
        }
    }

    package func show(
        _ notification: DesktopNotification, replacing former: UInt32, completion: @escaping (UInt32?) -> Void
    ) {
        let parameters: JSONObject = [
            "notification": .object(notification.json), "replaces": .integer(Int64(former)),
        ]
        desktop.call(.showNotification, parameters) {
            completion((try? Fields($0.get()).optionalIdentifier("id")) ?? nil)
        }
    }

    package func withdraw(_ id: UInt32) {
        // What is not there any more need not be taken off.
        desktop.call(.closeNotification, ["id": .integer(Int64(id))]) { _ in }
    }

    package func stop() {
        following = nil
    }
}
