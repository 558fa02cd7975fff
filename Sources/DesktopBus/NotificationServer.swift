import CSystemdBus
package import HandoffDesktop
package import LoopIO

/// The desktop's notification server on the user's bus (org.freedesktop.Notifications). Lives on the loop's thread; never
/// waits.
///
/// A bus that is lost, or was never there, is tried again, less and less often. Of signals only those are believed that come
/// from the server itself, as the bus names it: any program may send us one that looks alike.
package final class NotificationServer: LoopBusDelegate {
    private static let service = "org.freedesktop.Notifications"
    private static let path = "/org/freedesktop/Notifications"
    /// Who the notifications come from, as servers show it.
    private static let name = "Handoff"
    /// The desktop entry by which a desktop lets the user set how notifications of a program behave, without its ending.
    private static let entry = "handoffd"
    /// How long the server may take, its start included, in microseconds.
    private static let timeout: UInt64 = 25_000_000
    /// The most capabilities that are read.
    private static let most = 64

    private let loop: EventLoop
    private let onEvent: (NotificationEvent) -> Void
    private let bus: LoopBus
    /// The server's own name on the bus, once it has answered.
    private var owner: String?

    /// Begins to look for the bus.
    ///
    /// - Parameter onEvent: called from the loop, never inside a call of this object.
    package init(loop: EventLoop, onEvent: @escaping (NotificationEvent) -> Void) {
        self.loop = loop
        self.onEvent = onEvent
        bus = LoopBus(.user, loop: loop, timeout: Self.timeout)
        bus.start(self)
    }

    /// Ends it; nothing is told any more. What was asked for before was sent at once, unless the bus had not let us in yet or
    /// did not read; that is dropped.
    package func stop() {
        bus.stop()
    }

    /// Asks what the server can do (`GetCapabilities`); the bus may start one for this.
    ///
    /// - Parameter completion: called once, from the loop, unless the bus is lost: nil when there is no server.
    package func ask(_ completion: @escaping ([String]?) -> Void) {
        let isSent = call("GetCapabilities") { [weak self] reply in
            guard let reply, let list = try? BusReader.texts(reply, limit: Self.most) else { return completion(nil) }
            self?.owner = Self.sender(reply)
            completion(list)
        }
        if !isSent { loop.later { completion(nil) } }
    }

    /// Shows a notification (`Notify`).
    ///
    /// - Parameters:
    ///   - former: the id of the one whose place it takes; 0: of none.
    ///   - completion: called once, from the loop, unless the bus is lost: its id, or nil when it is not shown.
    package func show(
        _ notification: DesktopNotification, replacing former: UInt32, completion: @escaping (UInt32?) -> Void
    ) {
        let isSent = call(
            "Notify", { Self.write(notification, replacing: former, to: &$0) },
            then: { completion($0.flatMap { try? BusReader.number($0) }) })
        if !isSent { loop.later { completion(nil) } }
    }

    /// Takes a notification off the screen (`CloseNotification`).
    package func withdraw(_ id: UInt32) {
        // A server that is not there shows nothing. What it would answer is of no interest either.
        try? bus.tell(Self.service, Self.path, Self.service, "CloseNotification") { $0.append(id) }
    }

    private static func write(
        _ notification: DesktopNotification, replacing former: UInt32, to message: inout BusMessage
    ) {
        message.append(name)
        message.append(former)
        message.append(notification.icon)
        message.append(notification.summary)
        message.append(notification.body)
        message.container("a", "s") { list in
            for choice in notification.choices {
                list.append(choice.key)
                list.append(choice.label)
            }
        }
        message.container("a", "{sv}") { hints in
            hints.entry("urgency", signature: "y") { $0.append(UInt8(clamping: notification.urgency ?? 0)) }
            hints.entry("category", signature: "s") { $0.append("device") }
            hints.entry("desktop-entry", signature: "s") { $0.append(entry) }
        }
        // The server knows how long its user wants to see such things.
        message.append(Int32(-1))
    }

    // MARK: - The bus

    func busOpened() throws(Errno) {
        let owners = "sender='\(LoopBus.name)',interface='\(LoopBus.name)',member='NameOwnerChanged'"
        try bus.follow("\(owners),arg0='\(Self.service)'") { [weak self] in self?.ownerChanged($0) }
        for member in ["NotificationClosed", "ActivationToken", "ActionInvoked"] {
            let origin = "sender='\(Self.service)',path='\(Self.path)',interface='\(Self.service)'"
            try bus.follow("\(origin),member='\(member)'") { [weak self] in self?.told(member, $0) }
        }
        // Answered once we are let in, and all of the above holds.
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

    /// - Returns: false when nothing was sent, and nothing will be answered.
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

    // MARK: - What is told

    /// `NameOwnerChanged`: name, its owner before, its owner from now on.
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

    private func told(_ member: String, _ message: OpaquePointer) {
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
