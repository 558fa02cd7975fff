import CSystemdBus
package import HandoffHandlers
package import LoopIO

/// The desktop's notification server on the user's bus (org.freedesktop.Notifications). Lives on
/// the loop's thread and never blocks.
///
/// Reconnects to a lost or missing bus with increasing delays. Accepts signals only from the
/// server's unique bus name, because any program can send a similar signal.
package final class NotificationServer: LoopBusDelegate {
    private static let service = "org.freedesktop.Notifications"
    private static let path = "/org/freedesktop/Notifications"
    /// The application name that servers show.
    private static let name = "Handoff"
    /// The desktop entry (without its suffix) by which desktops store the user's notification
    /// settings.
    private static let entry = "handoffd"
    /// The maximum time for a reply, including the start of the server, in microseconds.
    private static let timeout: UInt64 = 25_000_000
    /// The servers that draw the hint `value` beside the text. Of the others, some ignore it, and
    /// xfce4-notifyd draws nothing else.
    private static let withProgress: Set<String> = ["dunst", "mako"]
    /// The maximum number of capabilities to read.
    private static let maxCapabilities = 64

    private let loop: EventLoop
    private let onEvent: (NotificationEvent) -> Void
    private let bus: LoopBus
    /// The unique name of the server, once it has replied.
    private var owner: String?
    private var drawsProgress = false

    /// Starts connecting to the bus.
    ///
    /// - Parameter onEvent: Called from the loop, never inside a call of this object.
    package init(loop: EventLoop, onEvent: @escaping (NotificationEvent) -> Void) {
        self.loop = loop
        self.onEvent = onEvent
        bus = LoopBus(.user, loop: loop, timeout: Self.timeout)
        bus.start(self)
    }

    /// Ends the connection. Nothing is reported afterwards. Earlier requests were sent immediately,
    /// unless the bus had not authenticated the connection or did not read. Those are dropped.
    package func stop() {
        bus.stop()
    }

    /// Requests the server's capabilities (`GetCapabilities`). The bus may start a server for this.
    ///
    /// - Parameter completion: Called once, from the loop, unless the bus is lost. Receives nil if
    ///   there is no server.
    package func ask(_ completion: @escaping ([String]?) -> Void) {
        // Its reply arrives first.
        _ = call("GetServerInformation") { [weak self] reply in
            let name = reply.flatMap { try? BusReader.text($0, "s") }
            self?.drawsProgress = name.map { Self.withProgress.contains($0.lowercased()) } ?? false
        }
        let isSent = call("GetCapabilities") { [weak self] reply in
            guard let reply, let list = try? BusReader.texts(reply, limit: Self.maxCapabilities) else {
                return completion(nil)
            }
            self?.owner = Self.sender(reply)
            completion(list)
        }
        if !isSent { loop.later { completion(nil) } }
    }

    /// Shows a notification (`Notify`).
    ///
    /// - Parameters:
    ///   - former: The id of the notification to replace; 0 for none.
    ///   - completion: Called once, from the loop, unless the bus is lost. Receives the id, or nil
    ///     if the notification is not shown.
    package func show(
        _ notification: DesktopNotification, replacing former: UInt32, completion: @escaping (UInt32?) -> Void
    ) {
        let isSent = call(
            "Notify", { [drawsProgress] in Self.write(notification, replacing: former, drawsProgress, to: &$0) },
            then: { completion($0.flatMap { try? BusReader.number($0) }) })
        if !isSent { loop.later { completion(nil) } }
    }

    /// Removes a notification from the screen (`CloseNotification`).
    package func withdraw(_ id: UInt32) {
        // Errors are ignored: a server that is not running shows nothing.
        try? bus.send(Self.service, Self.path, Self.service, "CloseNotification") { $0.append(id) }
    }

    private static func write(
        _ notification: DesktopNotification, replacing former: UInt32, _ drawsProgress: Bool,
        to message: inout BusMessage
    ) {
        let texts = notification.texts(SessionLanguage.translation)
        message.append(name)
        message.append(former)
        message.append(notification.icon)
        message.append(texts.summary)
        message.append(texts.body)
        message.container("a", "s") { list in
            for choice in notification.choices {
                list.append(choice.key)
                list.append(choice.label.text(SessionLanguage.translation))
            }
        }
        message.container("a", "{sv}") { hints in
            hints.entry("urgency", signature: "y") { $0.append(UInt8(clamping: notification.urgency ?? 0)) }
            hints.entry("category", signature: "s") { $0.append("device") }
            hints.entry("desktop-entry", signature: "s") { $0.append(entry) }
            // For a notification with a desktop entry, GNOME Shell ignores the parameter `app_icon`.
            hints.entry("image-path", signature: "s") { $0.append(image(notification.icon)) }
            if drawsProgress, let progress = notification.progress {
                hints.entry("value", signature: "i") { $0.append(Int32(clamping: progress)) }
            }
        }
        // -1 leaves the expiration to the server's settings.
        message.append(Int32(-1))
    }

    /// Returns an icon as the hint expects it: the name in a theme, or the URL of a file.
    private static func image(_ icon: String) -> String {
        icon.utf8.first == UInt8(ascii: "/") ? FileManager.address(of: icon) : icon
    }

    // MARK: - The bus

    func busOpened() throws(Errno) {
        let owners = "sender='\(LoopBus.name)',interface='\(LoopBus.name)',member='NameOwnerChanged'"
        try bus.follow("\(owners),arg0='\(Self.service)'") { [weak self] in self?.ownerChanged($0) }
        for member in ["NotificationClosed", "ActivationToken", "ActionInvoked"] {
            let origin = "sender='\(Self.service)',path='\(Self.path)',interface='\(Self.service)'"
            try bus.follow("\(origin),member='\(member)'") { [weak self] in self?.received(member, $0) }
        }
        // The reply arrives once the connection is authenticated and the matches above are active.
        try bus.call(LoopBus.name, LoopBus.path, LoopBus.name, "GetId") { [weak self] reply in
            if reply != nil { self?.connected() } else { self?.bus.lost() }
        }
    }

    private func connected() {
        bus.reached()
        onEvent(.appeared)
    }

    func busLost(wasOpen: Bool) {
        owner = nil
        if wasOpen { onEvent(.gone) }
    }

    /// - Returns: False if the call was not sent; `then` is not called in that case.
    private func call(
        _ member: String, _ fill: (inout BusMessage) -> Void = { _ in }, then: @escaping (OpaquePointer?) -> Void
    ) -> Bool {
        do throws(Errno) {
            try bus.call(Self.service, Self.path, Self.service, member, fill, then: then)
            return true
        } catch {
            return false
        }
    }

    // MARK: - Signals

    /// `NameOwnerChanged`: the name, its old owner, its new owner.
    private func ownerChanged(_ message: OpaquePointer) {
        guard Self.sender(message) == LoopBus.name, let name = try? BusReader.text(message, "s"), name == Self.service,
            let former = try? BusReader.text(message, "s"), let present = try? BusReader.text(message, "s")
        else { return }
        if !former.isEmpty {
            owner = nil
            onEvent(.gone)
        }
        if !present.isEmpty { onEvent(.appeared) }
    }

    private func received(_ member: String, _ message: OpaquePointer) {
        guard let owner, Self.sender(message) == owner, let id = try? BusReader.number(message) else { return }
        switch member {
        case "NotificationClosed":
            guard let reason = try? BusReader.number(message) else { return }
            onEvent(.closed(id, reason: reason))
        case "ActivationToken":
            guard let token = try? BusReader.text(message, "s") else { return }
            onEvent(.token(id, token))
        default:
            guard let key = try? BusReader.text(message, "s") else { return }
            onEvent(.chosen(id, key: key))
        }
    }

    private static func sender(_ message: OpaquePointer) -> String? {
        sd_bus_message_get_sender(message).map { String(cString: $0) }
    }
}
