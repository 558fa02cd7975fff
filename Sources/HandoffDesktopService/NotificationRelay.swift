import DesktopBus
import HandoffDesktop
import HandoffJSON
import LoopIO

/// Stands between those who follow and the desktop's notification server. On the loop's thread.
///
/// The server is looked for from the first follower on, and kept: who shows something takes it off over another connection.
final class NotificationRelay {
    private let loop: EventLoop
    private var server: NotificationServer?
    /// Whether there may be a server, as far as the bus has said.
    private var isThere = false
    private var followers: [ObjectIdentifier: DesktopCall] = [:]
    /// What the server was asked and has not answered: of a bus that is lost nothing comes any more.
    private var asked: [ObjectIdentifier: DesktopCall] = [:]

    init(loop: EventLoop) {
        self.loop = loop
    }

    /// Answers a call with what the server says from now on.
    func follow(_ call: DesktopCall) {
        let key = ObjectIdentifier(call)
        followers[key] = call
        call.onClosed = { [weak self] in self?.followers[key] = nil }
        if isThere { call.replyContinuing(NotificationEvent.appeared.json) }
        guard server == nil else { return }
        server = NotificationServer(loop: loop) { [weak self] in self?.tell($0) }
    }

    /// Answers what the server can do.
    func ask(_ call: DesktopCall) {
        guard let server, isThere else { return call.reply(["capabilities": .null]) }
        asked[ObjectIdentifier(call)] = call
        server.ask { [weak self] names in
            self?.asked[ObjectIdentifier(call)] = nil
            // What is too long is none that we know.
            let known = names?.filter { $0.utf8.count <= 256 }
            call.reply(["capabilities": known.map { .array($0.map { .string($0) }) } ?? .null])
        }
    }

    /// Shows a notification, and answers its id.
    func show(_ notification: DesktopNotification, replacing former: UInt32, _ call: DesktopCall) {
        guard let server, isThere else { return call.reply(["id": .null]) }
        asked[ObjectIdentifier(call)] = call
        server.show(notification, replacing: former) { [weak self, weak server] id in
            self?.asked[ObjectIdentifier(call)] = nil
            // Who asked for it is gone, and nobody else knows it.
            if let id, !call.isOpen { server?.withdraw(id) }
            call.reply(["id": id.map { .integer(Int64($0)) } ?? .null])
        }
    }

    /// Takes a notification off the screen.
    func withdraw(_ id: UInt32, _ call: DesktopCall) {
        server?.withdraw(id)
        call.reply()
    }

    /// Ends it.
    func stop() {
        server?.stop()
        server = nil
        isThere = false
    }

    private func tell(_ event: NotificationEvent) {
        switch event {
        case .appeared: isThere = true
        case .gone:
            // The bus may be there still, and start another server for who asks.
            let open = asked.values
            asked = [:]
            for call in open { call.reply() }
        case .closed, .token, .chosen: break
        }
        guard event.isAcceptable else { return }
        for call in followers.values { call.replyContinuing(event.json) }
    }
}
