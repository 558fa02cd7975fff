import DesktopBus
import HandoffHandlers
import HandoffJSON
import LoopIO

/// Connects followers to the desktop's notification server. Use on the loop's thread.
///
/// The first follower connects to the server. The connection is kept, because a notification may be
/// withdrawn over a connection other than the one that showed it.
final class NotificationRelay {
    private let loop: EventLoop
    private var server: NotificationServer?
    /// True if the bus has reported that a server may be available.
    private var isAvailable = false
    private var followers: [ObjectIdentifier: DesktopCall] = [:]
    /// Calls that await a reply from the server. A lost bus does not deliver replies.
    private var pending: [ObjectIdentifier: DesktopCall] = [:]

    init(loop: EventLoop) {
        self.loop = loop
    }

    /// Replies with each event of the server from now on.
    func follow(_ call: DesktopCall) {
        let key = ObjectIdentifier(call)
        followers[key] = call
        call.onClosed = { [weak self] in self?.followers[key] = nil }
        if isAvailable { call.replyContinuing(NotificationEvent.appeared.json) }
        guard server == nil else { return }
        server = NotificationServer(loop: loop) { [weak self] in self?.relay($0) }
    }

    /// Replies with the server's capabilities.
    ///
    /// - Parameter canSave: True if the program for `SaveItems` is installed.
    func replyCapabilities(_ call: DesktopCall, canSave: Bool) {
        guard let server, isAvailable else { return call.reply(["capabilities": .null]) }
        pending[ObjectIdentifier(call)] = call
        server.ask { [weak self] names in
            self?.pending[ObjectIdentifier(call)] = nil
            // Overlong names are not known capabilities.
            let known = names.map { names in
                names.filter { $0.utf8.count <= 256 } + (canSave ? [NotificationCapability.savesItems] : [])
            }
            call.reply(["capabilities": known.map { .array($0.map { .string($0) }) } ?? .null])
        }
    }

    /// Shows a notification, and replies with its id.
    func show(_ notification: DesktopNotification, replacing former: UInt32, _ call: DesktopCall) {
        guard let server, isAvailable else { return call.reply(["id": .null]) }
        pending[ObjectIdentifier(call)] = call
        server.show(notification, replacing: former) { [weak self, weak server] id in
            self?.pending[ObjectIdentifier(call)] = nil
            // The client has disconnected, so the id would be lost.
            if let id, !call.isOpen { server?.withdraw(id) }
            call.reply(["id": id.map { .integer(Int64($0)) } ?? .null])
        }
    }

    /// Removes a notification from the screen.
    func withdraw(_ id: UInt32, _ call: DesktopCall) {
        server?.withdraw(id)
        call.reply()
    }

    /// Disconnects from the server.
    func stop() {
        server?.stop()
        server = nil
        isAvailable = false
    }

    private func relay(_ event: NotificationEvent) {
        switch event {
        case .appeared: isAvailable = true
        case .gone:
            // The bus may still be connected, and start another server on request.
            let open = pending.values
            pending = [:]
            for call in open { call.reply() }
        case .closed, .token, .chosen: break
        }
        guard event.isAcceptable else { return }
        for call in followers.values { call.replyContinuing(event.json) }
    }
}
