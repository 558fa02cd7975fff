import HandoffControl
package import HandoffDesktop
import HandoffJSON

/// The desktop's notification server. On the daemon's loop.
package final class DesktopNotifier: NotificationServing {
    private let desktop: DesktopLink
    private let onEvent: (NotificationEvent) -> Void
    private var following: DesktopLink.Following?
    private var isConnected = false
    /// How many notifications wait for their id.
    private var pending = 0
    /// Events that came meanwhile, oldest first. The id of a notification comes over a connection of its own, so an event
    /// about it may come first; the server sent it last.
    private var early: [NotificationEvent] = []
    /// A bound for a server that has gone mad; what is above it is dropped.
    private static let maxEarly = 64

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
            guard let event = try? NotificationEvent(json: fields) else { return }
            isConnected = true
            guard pending > 0, event != .gone else { return deliver(event) }
            if early.count < Self.maxEarly { early.append(event) }
        case .lost, .missing:
            // Whoever showed something is gone; what the next one shows is new.
            guard isConnected else { return }
            isConnected = false
            deliver(.gone)
        }
    }

    private func deliver(_ event: NotificationEvent) {
        // What a server said before it went is about notifications that are gone with it.
        if event == .gone { early = [] }
        onEvent(event)
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
        pending += 1
        desktop.call(.showNotification, parameters) { [weak self] result in
            let events = self?.takeEarly() ?? []
            completion((try? Fields(result.get()).optional("id")) ?? nil)
            for event in events { self?.onEvent(event) }
        }
    }

    /// Called at each answer; the last one that is waited for lets the events through.
    private func takeEarly() -> [NotificationEvent] {
        pending -= 1
        guard pending == 0 else { return [] }
        defer { early = [] }
        return early
    }

    package func withdraw(_ id: UInt32) {
        // What is not there any more need not be taken off.
        desktop.call(.closeNotification, ["id": .integer(Int64(id))]) { _ in }
    }

    package func stop() {
        following = nil
    }
}
