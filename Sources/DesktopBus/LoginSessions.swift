import CSystemdBus
import Glibc
package import HandoffDesktop
package import LoopIO

/// Follows the sessions of a user over the system bus (org.freedesktop.login1(5)). Lives on the loop's thread; never waits.
///
/// Whenever logind says that something has changed, all of the user's sessions are asked for again: what counts is what
/// it answers, and not what a signal says.
package final class LoginSessions: BusSource, LoopBusDelegate {
    private static let service = LoginManager.service
    private static let managerPath = LoginManager.path
    private static let managerInterface = LoginManager.interface
    private static let sessionInterface = "org.freedesktop.login1.Session"
    /// How long logind may take to answer, in microseconds.
    private static let timeout: UInt64 = 5_000_000
    /// How soon it is asked again after it was: desktops change several properties at once.
    private static let pause = Duration.milliseconds(50)
    /// How soon it is asked again when it did not answer.
    private static let silence = Duration.seconds(5)
    /// The most sessions that are looked at.
    private static let most = 64

    private let loop: EventLoop
    private let userID: UInt32
    private let onChange: (LoginReport) -> Void
    private let bus: LoopBus
    private var isAsking = false
    private var isOutdated = false
    private var found: [LoginSession] = []
    private var awaited = 0
    /// Whether nothing was said of a session that was listed.
    private var hasSilent = false
    private var timer: LoopTimer?

    /// Begins to follow.
    ///
    /// - Parameters:
    ///   - userID: whose sessions.
    ///   - onChange: gets all of them at first and after each change, or what else became of the question.
    package init(loop: EventLoop, userID: UInt32, onChange: @escaping (LoginReport) -> Void) {
        self.loop = loop
        self.userID = userID
        self.onChange = onChange
        bus = LoopBus(.system, loop: loop, timeout: Self.timeout)
        // Nothing is told from inside the initialiser: who gets the answer may not have its own place yet.
        bus.start(self)
    }

    /// Ends it; nothing is told any more.
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
            // logind was started, or ended.
            "sender='\(LoopBus.name)',member='NameOwnerChanged',arg0='\(Self.service)'",
        ]
        for change in changes {
            try bus.follow(change) { [weak self] _ in self?.changed() }
        }
        ask()
    }

    /// The bus is gone, or was never there. Who was told of sessions keeps to that until there is a bus again.
    func busLost(wasOpen: Bool) {
        timer = nil
        isAsking = false
        onChange(wasOpen ? .silent : .absent)
    }

    // MARK: - Asking

    private func changed() {
        guard !isAsking else {
            isOutdated = true
            return
        }
        ask()
    }

    private func ask() {
        timer = nil
        isAsking = true
        isOutdated = false
        found = []
        hasSilent = false
        do throws(Errno) {
            try bus.call(Self.service, Self.managerPath, Self.managerInterface, "ListSessions") { [weak self] in
                self?.listed($0)
            }
        } catch {
            answered(.silent)
        }
    }

    /// Nobody has answered for logind: the bus knows whether it is there at all.
    private func askForOwner() {
        do throws(Errno) {
            try bus.call(
                LoopBus.name, LoopBus.path, LoopBus.name, "NameHasOwner", { $0.append(Self.service) },
                then: { [weak self] reply in
                    let isThere = reply.flatMap { try? BusReader.flag($0) } ?? true
                    self?.answered(isThere ? .silent : .absent)
                })
        } catch {
            answered(.silent)
        }
    }

    private func listed(_ reply: OpaquePointer?) {
        guard let reply else { return askForOwner() }
        guard let sessions = try? LoginReader.sessions(reply, of: userID) else { return answered(.silent) }
        bus.reached()
        awaited = 0
        for (id, path) in sessions.prefix(Self.most) {
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

    /// Takes the properties of a session; nil when nothing was said of it. If it has ended, a signal says so, too.
    private func described(_ session: LoginSession?) {
        if let session { found.append(session) } else { hasSilent = true }
        awaited -= 1
        if awaited == 0 { answered(hasSilent ? .silent : .sessions(found.sorted { $0.id < $1.id })) }
    }

    private func answered(_ report: LoginReport) {
        isAsking = false
        if !isOutdated { onChange(report) }
        guard isOutdated || report == .silent, bus.isOpen else { return }
        timer = loop.timer(after: isOutdated ? Self.pause : Self.silence) { [weak self] in self?.ask() }
    }
}

/// Reads what logind answers.
private enum LoginReader {
    /// The longest word of a session, in bytes; real ones have a few letters. All sessions fit one message to the daemon.
    private static let maxWord = 256

    /// Ids and paths of a user's sessions, from the reply to `ListSessions`: `a(susso)`.
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

    /// A session from the reply to `GetAll`: `a{sv}`.
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
