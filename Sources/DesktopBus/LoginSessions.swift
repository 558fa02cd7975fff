import CSystemdBus
import Glibc
package import HandoffHandlers
package import LoopIO

/// Follows the sessions of a user over the system bus (org.freedesktop.login1(5)). Lives on the
/// loop's thread and never blocks.
///
/// When logind signals a change, all of the user's sessions are queried again. Only its replies
/// count, not the content of signals.
package final class LoginSessions: BusSource, LoopBusDelegate {
    private static let service = LoginManager.service
    private static let managerPath = LoginManager.path
    private static let managerInterface = LoginManager.interface
    private static let sessionInterface = "org.freedesktop.login1.Session"
    /// The maximum time for a reply from logind, in microseconds.
    private static let timeout: UInt64 = 5_000_000
    /// The delay before another query: desktops change several properties together.
    private static let refreshDelay = Duration.milliseconds(50)
    /// The delay before a retry when logind did not reply.
    private static let retryDelay = Duration.seconds(5)
    /// The maximum number of sessions to query.
    private static let maxSessions = 64

    private let loop: EventLoop
    private let userID: UInt32
    private let onChange: (LoginReport) -> Void
    private let bus: LoopBus
    private var isQuerying = false
    private var isOutdated = false
    private var found: [LoginSession] = []
    private var awaited = 0
    /// True if the properties of a listed session are missing.
    private var isIncomplete = false
    private var timer: LoopTimer?

    /// Starts following.
    ///
    /// - Parameters:
    ///   - userID: The owner of the sessions.
    ///   - onChange: Receives all sessions initially and after each change, or the reason why they
    ///     are unknown.
    package init(loop: EventLoop, userID: UInt32, onChange: @escaping (LoginReport) -> Void) {
        self.loop = loop
        self.userID = userID
        self.onChange = onChange
        bus = LoopBus(.system, loop: loop, timeout: Self.timeout)
        // Nothing is reported from inside the initializer: the receiver may not be stored yet.
        bus.start(self)
    }

    /// Ends the subscription. Nothing is reported afterwards.
    package func stop() {
        timer = nil
        bus.stop()
    }

    func busOpened() throws(Errno) {
        let sessions = "path_namespace='\(Self.managerPath)/session',interface='\(LoopBus.propertiesInterface)'"
        let manager = "path='\(Self.managerPath)',interface='\(Self.managerInterface)'"
        let changes = [
            "sender='\(Self.service)',\(manager),member='SessionNew'",
            "sender='\(Self.service)',\(manager),member='SessionRemoved'",
            "sender='\(Self.service)',\(sessions)",
            // logind has started or ended.
            "sender='\(LoopBus.name)',member='NameOwnerChanged',arg0='\(Self.service)'",
        ]
        for change in changes {
            try bus.follow(change) { [weak self] _ in self?.changed() }
        }
        query()
    }

    /// The connection was lost, or none could be made. A receiver that knows sessions keeps them
    /// until there is a connection again.
    func busLost(wasOpen: Bool) {
        timer = nil
        isQuerying = false
        onChange(wasOpen ? .silent : .absent)
    }

    // MARK: - Queries

    private func changed() {
        guard !isQuerying else {
            isOutdated = true
            return
        }
        query()
    }

    private func query() {
        timer = nil
        isQuerying = true
        isOutdated = false
        found = []
        isIncomplete = false
        do throws(Errno) {
            try bus.call(Self.service, Self.managerPath, Self.managerInterface, "ListSessions") { [weak self] in
                self?.listed($0)
            }
        } catch {
            answered(.silent)
        }
    }

    /// Checks with the bus whether logind is running, because it did not reply.
    private func queryOwner() {
        do throws(Errno) {
            try bus.call(
                LoopBus.name, LoopBus.path, LoopBus.name, "NameHasOwner", { $0.append(Self.service) },
                then: { [weak self] reply in
                    let exists = reply.flatMap { try? BusReader.flag($0) } ?? true
                    self?.answered(exists ? .silent : .absent)
                })
        } catch {
            answered(.silent)
        }
    }

    private func listed(_ reply: OpaquePointer?) {
        guard let reply else { return queryOwner() }
        guard let sessions = try? LoginReader.sessions(reply, of: userID) else { return answered(.silent) }
        bus.reached()
        awaited = 0
        for (id, path) in sessions.prefix(Self.maxSessions) {
            do throws(Errno) {
                try bus.call(
                    Self.service, path, LoopBus.propertiesInterface, "GetAll", { $0.append(Self.sessionInterface) },
                    then: { [weak self] reply in
                        self?.described(reply.flatMap { try? LoginReader.session($0, id: id) })
                    })
                awaited += 1
            } catch {
                return answered(.silent)
            }
        }
        if awaited == 0 { answered(.sessions([])) }
    }

    /// Handles the properties of a session; nil if they are missing. If the session has ended, a
    /// signal reports that too.
    private func described(_ session: LoginSession?) {
        if let session { found.append(session) } else { isIncomplete = true }
        awaited -= 1
        if awaited == 0 { answered(isIncomplete ? .silent : .sessions(found.sorted { $0.id < $1.id })) }
    }

    private func answered(_ report: LoginReport) {
        isQuerying = false
        if !isOutdated { onChange(report) }
        guard isOutdated || report == .silent, bus.isOpen else { return }
        timer = loop.timer(after: isOutdated ? Self.refreshDelay : Self.retryDelay) { [weak self] in self?.query() }
    }
}

/// Parses the replies of logind.
private enum LoginReader {
    /// The maximum length of a session's strings, in bytes; real ones have a few letters. All
    /// sessions fit in one message to the daemon.
    private static let maxWord = 256

    /// Reads the ids and paths of a user's sessions from the reply to `ListSessions`: `a(susso)`.
    static func sessions(_ message: OpaquePointer, of userID: UInt32) throws(Errno) -> [(id: String, path: String)] {
        var sessions: [(id: String, path: String)] = []
        try Errno.check(sd_bus_message_enter_container(message, BusReader.type("a"), "(susso)"))
        while try Errno.check(sd_bus_message_enter_container(message, BusReader.type("r"), "susso")) > 0 {
            let id = try word(message)
            let user = try BusReader.number(message)
            _ = try BusReader.text(message, "s")
            _ = try BusReader.text(message, "s")
            let path = try BusReader.text(message, "o")
            try Errno.check(sd_bus_message_exit_container(message))
            if user == userID { sessions.append((id, path)) }
        }
        return sessions
    }

    /// Reads a session from the reply to `GetAll`: `a{sv}`.
    static func session(_ message: OpaquePointer, id: String) throws(Errno) -> LoginSession {
        var session = LoginSession(id: id, sessionClass: "", type: "", state: "")
        try Errno.check(sd_bus_message_enter_container(message, BusReader.type("a"), "{sv}"))
        while try Errno.check(sd_bus_message_enter_container(message, BusReader.type("e"), "sv")) > 0 {
            switch try BusReader.text(message, "s") {
            case "Class": session.sessionClass = try variant(message)
            case "Type": session.type = try variant(message)
            case "State": session.state = try variant(message)
            case "LockedHint": session.isLocked = try flag(message)
            case "IdleHint": session.isIdle = try flag(message)
            // Microseconds.
            case "IdleSinceHint": session.idleSince = try number(message) / 1_000_000
            default: try Errno.check(sd_bus_message_skip(message, "v"))
            }
            try Errno.check(sd_bus_message_exit_container(message))
        }
        return session
    }

    private static func variant(_ message: OpaquePointer) throws(Errno) -> String {
        try Errno.check(sd_bus_message_enter_container(message, BusReader.type("v"), "s"))
        let value = try word(message)
        try Errno.check(sd_bus_message_exit_container(message))
        return value
    }

    private static func word(_ message: OpaquePointer) throws(Errno) -> String {
        let word = try BusReader.text(message, "s")
        guard word.utf8.count <= maxWord else { throw Errno(rawValue: EMSGSIZE) }
        return word
    }

    private static func flag(_ message: OpaquePointer) throws(Errno) -> Bool {
        try Errno.check(sd_bus_message_enter_container(message, BusReader.type("v"), "b"))
        let value = try BusReader.flag(message)
        try Errno.check(sd_bus_message_exit_container(message))
        return value
    }

    private static func number(_ message: OpaquePointer) throws(Errno) -> UInt64 {
        var value: UInt64 = 0
        try Errno.check(sd_bus_message_enter_container(message, BusReader.type("v"), "t"))
        try Errno.check(sd_bus_message_read_basic(message, BusReader.type("t"), &value))
        try Errno.check(sd_bus_message_exit_container(message))
        return value
    }
}
