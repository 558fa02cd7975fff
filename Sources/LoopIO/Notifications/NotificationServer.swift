import CSystemd
import Glibc

/// The desktop's notification server on the user's bus (org.freedesktop.Notifications). Lives on the loop's thread; never
/// waits.
///
/// A bus that is lost, or was never there, is tried again, less and less often. Of signals only those are believed that come
/// from the server itself, as the bus names it: any program may send us one that looks alike.
package final class NotificationServer {
    /// What the server, or the bus, says.
    package enum Event: Sendable, Equatable {
        /// There may be a server now: the bus is there, or a server has come. It knows nothing of former notifications.
        case appeared
        /// The server is gone, or the bus, and with it what was shown.
        case gone
        /// A notification is on the screen no more. 1: its time was over; 2: the user closed it; 3: it was withdrawn.
        case closed(UInt32, reason: UInt32)
        /// What proves to the desktop that the user asked for a window; comes before `chosen`, from some servers only.
        case token(UInt32, String)
        /// The user has chosen something.
        case chosen(UInt32, key: String)
    }

    private static let service = "org.freedesktop.Notifications"
    private static let path = "/org/freedesktop/Notifications"
    private static let bus = "org.freedesktop.DBus"
    /// Who the notifications come from, as servers show it.
    private static let name = "Handoff"
    /// The desktop entry by which a desktop lets the user set how notifications of a program behave, without its ending.
    private static let entry = "handoffd"
    /// How long the server may take, its start included, in microseconds.
    private static let patience: UInt64 = 25_000_000
    /// How soon a lost connection to the bus is made anew, at first and at last.
    private static let firstRetry = Duration.seconds(2)
    private static let lastRetry = Duration.seconds(300)
    /// The most capabilities that are read.
    private static let most = 64

    private let loop: EventLoop
    private let onEvent: (Event) -> Void
    private var bus: OpaquePointer?
    private var matches: [BusCall] = []
    private var calls: [ObjectIdentifier: BusCall] = [:]
    /// The server's own name on the bus, once it has answered.
    private var owner: String?
    private var retry = NotificationServer.firstRetry
    private var timer: LoopTimer?
    private var isStopped = false

    /// Begins to look for the bus.
    ///
    /// - Parameter onEvent: called from the loop, never inside a call of this object.
    package init(loop: EventLoop, onEvent: @escaping (Event) -> Void) {
        self.loop = loop
        self.onEvent = onEvent
        loop.later { [weak self] in self?.connect() }
    }

    deinit {
        disconnect()
    }

    /// Ends it; nothing is told any more. What was asked for before is still sent.
    package func stop() {
        isStopped = true
        timer = nil
        disconnect()
    }

    /// Asks what the server can do (`GetCapabilities`); the bus may start one for this.
    ///
    /// - Parameter completion: called once, from the loop, unless the bus is lost: nil when there is no server.
    package func ask(_ completion: @escaping ([String]?) -> Void) {
        let isSent = call("GetCapabilities", { _ in }) { [weak self] reply in
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
        let isSent = call("Notify", { Self.write(notification, replacing: former, to: &$0) }) { reply in
            completion(reply.flatMap { try? BusReader.number($0) })
        }
        if !isSent { loop.later { completion(nil) } }
    }

    /// Takes a notification off the screen (`CloseNotification`).
    package func withdraw(_ id: UInt32) {
        guard let bus else { return }
        var pointer: OpaquePointer?
        let made = sd_bus_message_new_method_call(
            bus, &pointer, Self.service, Self.path, Self.service, "CloseNotification")
        guard made >= 0, let pointer else { return }
        defer { sd_bus_message_unref(pointer) }
        // A server that is not there shows nothing. What it would answer is of no interest either.
        sd_bus_message_set_auto_start(pointer, 0)
        sd_bus_message_set_expect_reply(pointer, 0)
        var message = BusMessage(pointer)
        message.append(id)
        guard message.result >= 0 else { return }
        sd_bus_send(bus, pointer, nil)
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
            // Low: it can be used, and never has to be.
            hints.entry("urgency", signature: "y") { $0.append(UInt8(0)) }
            hints.entry("category", signature: "s") { $0.append("device") }
            hints.entry("desktop-entry", signature: "s") { $0.append(entry) }
        }
        // The server knows how long its user wants to see such things.
        message.append(Int32(-1))
    }

    // MARK: - The bus

    private func connect() {
        guard bus == nil, !isStopped else { return }
        do throws(Errno) {
            var bus: OpaquePointer?
            // Connects without waiting; what follows is sent once the bus has let us in.
            try Errno.check(sd_bus_open_user(&bus))
            self.bus = bus
            try Errno.check(sd_bus_set_method_call_timeout(bus, Self.patience))
            try Errno.check(sd_bus_attach_event(bus, loop.event, 0))
            let end = "type='signal',sender='\(Self.bus).Local',member='Disconnected'"
            try match(end) { [weak self] _ in self?.lost() }
            let owners = "type='signal',sender='\(Self.bus)',interface='\(Self.bus)',member='NameOwnerChanged'"
            try match("\(owners),arg0='\(Self.service)'") { [weak self] in self?.ownerChanged($0) }
            for member in ["NotificationClosed", "ActivationToken", "ActionInvoked"] {
                let origin = "sender='\(Self.service)',path='\(Self.path)',interface='\(Self.service)'"
                try match("type='signal',\(origin),member='\(member)'") { [weak self] in self?.told(member, $0) }
            }
            // Answered once we are let in, and all of the above holds.
            let isSent = call("GetId", of: Self.bus, at: "/org/freedesktop/DBus", { _ in }) { [weak self] reply in
                if reply != nil { self?.connected() }
            }
            if !isSent { lost() }
        } catch {
            lost()
        }
    }

    private func disconnect() {
        for call in matches { call.cancel() }
        for call in calls.values { call.cancel() }
        matches = []
        calls = [:]
        owner = nil
        guard let bus else { return }
        self.bus = nil
        sd_bus_detach_event(bus)
        sd_bus_close_unref(bus)
    }

    private func connected() {
        retry = Self.firstRetry
        onEvent(.appeared)
    }

    private func lost() {
        // Not inside the callback that said so.
        loop.later { [weak self] in
            guard let self, !isStopped else { return }
            let wasThere = bus != nil
            disconnect()
            let wait = retry
            retry = min(retry * 2, Self.lastRetry)
            timer = try? loop.timer(after: wait, accuracy: .seconds(1)) { [weak self] in self?.connect() }
            if wasThere { onEvent(.gone) }
        }
    }

    private func match(_ rule: String, _ handler: @escaping (OpaquePointer) -> Void) throws(Errno) {
        let match = BusCall { message in
            if let message { handler(message) }
        }
        let context = Unmanaged.passUnretained(match).toOpaque()
        try Errno.check(sd_bus_add_match_async(bus, &match.slot, rule, busDidReply, nil, context))
        matches.append(match)
    }

    /// - Returns: false when nothing was sent, and nothing will be answered.
    private func call(
        _ member: String, of service: String = service, at path: String = path, _ fill: (inout BusMessage) -> Void,
        _ then: @escaping (OpaquePointer?) -> Void
    ) -> Bool {
        guard let bus else { return false }
        var pointer: OpaquePointer?
        guard
            // Its interface is called as the service.
            sd_bus_message_new_method_call(bus, &pointer, service, path, service, member) >= 0, let pointer
        else { return false }
        defer { sd_bus_message_unref(pointer) }
        var message = BusMessage(pointer)
        fill(&message)
        guard message.result >= 0 else { return false }
        let call = BusCall(then)
        let key = ObjectIdentifier(call)
        call.onEnd = { [weak self] in self?.calls[key] = nil }
        let context = Unmanaged.passUnretained(call).toOpaque()
        guard sd_bus_call_async(bus, &call.slot, pointer, busDidReply, context, 0) >= 0 else { return false }
        calls[key] = call
        return true
    }

    // MARK: - What is told

    /// `NameOwnerChanged`: name, its owner before, its owner from now on.
    private func ownerChanged(_ message: OpaquePointer) {
        guard Self.sender(message) == Self.bus, let name = try? BusReader.text(message, "s"), name == Self.service,
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
