import HandoffControl
package import HandoffHandlers
import HandoffJSON

/// The desktop's notification server, through the desktop service. Use on the daemon's loop.
package final class DesktopNotifier: NotificationServing {
    private let desktop: DesktopLink
    private let onEvent: (NotificationEvent) -> Void
    private var following: DesktopLink.Following?
    private var isConnected = false
    /// The number of notifications that await their id.
    private var pending = 0
    /// Events received in the meantime, oldest first. An id arrives over another connection, so an
    /// event for the notification can arrive before it, although the server sent it later.
    private var early: [NotificationEvent] = []
    /// The maximum number of queued events; more are dropped. Protects against a malfunctioning
    /// server.
    private static let maxEarly = 64

    /// Starts looking for a server.
    ///
    /// - Parameter onEvent: Called from the loop, never inside a call of this object.
    package init(_ desktop: DesktopLink, onEvent: @escaping (NotificationEvent) -> Void) {
        self.desktop = desktop
        self.onEvent = onEvent
        following = desktop.follow(.followNotifications) { [weak self] in self?.received($0) }
    }

    private func received(_ update: DesktopLink.News) {
        switch update {
        case .reply(let fields):
            guard let event = try? NotificationEvent(json: fields) else { return }
            isConnected = true
            guard pending > 0, event != .gone else { return deliver(event) }
            if early.count < Self.maxEarly { early.append(event) }
        case .lost, .missing:
            // The server is considered lost. The next one has nothing on the screen.
            guard isConnected else { return }
            isConnected = false
            deliver(.gone)
        }
    }

    private func deliver(_ event: NotificationEvent) {
        // Earlier events concern notifications that no longer exist.
        if event == .gone { early = [] }
        onEvent(event)
    }

    package func ask(_ completion: @escaping ([String]?) -> Void) {
        desktop.call(.getNotificationServer) {
            completion((try? Fields($0.get()).optional("capabilities")) ?? nil)
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

    /// Called at each reply. Returns the queued events with the last pending one.
    private func takeEarly() -> [NotificationEvent] {
        pending -= 1
        guard pending == 0 else { return [] }
        defer { early = [] }
        return early
    }

    package func withdraw(_ id: UInt32) {
        // Failures are ignored: the notification is already gone.
        desktop.call(.closeNotification, ["id": .integer(Int64(id))]) { _ in }
    }

    package func stop() {
        following = nil
    }
}
