import DesktopBus
import FuzzSupport
import HandoffControl
import HandoffHandlers
import HandoffJSON
import HandoffModel
import LoopIO

/// Replies of a bus, and of its services, to `handoff-desktop`: replies of any types and sizes,
/// errors and signals, in any order and from any sender, through sd-bus and all of its readers. The
/// first byte selects the caller. The rest are the replies.
///
/// Invariants: every call ends, and every resulting report to the daemon fits a message and reads
/// the same there.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ pointer: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = Input(pointer, count)
    do {
        // The numbers are those of the first call after greeting and matches.
        switch input.byte() % 6 {
        case 0: try follow(BusScript.bytes(&input, answering: 6), readSessions)
        case 1: try follow(BusScript.bytes(&input, answering: 6), readNotifications)
        case 2: try ask(BusScript.bytes(&input, answering: 2), startUnit)
        case 3: try ask(BusScript.bytes(&input, answering: 2), activate)
        case 4: try ask(BusScript.bytes(&input, answering: 2)) { _ = Chassis.name() }
        default: try ask(BusScript.bytes(&input, answering: 2)) { _ = try? SleepInhibition(who: "a", why: "b") }
        }
    } catch {
        fatalError("\(error)")
    }
    return 0
}

// MARK: - Blocking calls

private func ask(_ script: [UInt8], _ call: () -> Void) throws {
    let bus = try PlayedBus(saying: script)
    let thread = try OwnedThread(name: "bus") { bus.serve() }
    call()
    thread.join()
}

private func startUnit() {
    let unit = TransientUnit(name: "a.service", description: "a", words: ["/bin/a", "$b"], variables: ["C=d"])
    try? unit.start(watching: .seconds(3))
}

private func activate() {
    try? BusApp(name: "org.example.A", path: "/org/example/A", token: "t").activate(within: .seconds(3))
}

// MARK: - Subscriptions

/// Runs a loop until the bus has sent everything and the client has disconnected. Its time
/// advances, so that repeated requests occur.
private func follow(_ script: [UInt8], _ begin: (EventLoop) -> () -> Void) throws {
    let bus = try PlayedBus(saying: script)
    let clock = ManualClock()
    let loop = try EventLoop(clock: clock)
    let end = begin(loop)
    let thread = try OwnedThread(name: "bus") {
        bus.serve()
        loop.stop()
    }
    Time(clock, loop).pass()
    try loop.run()
    end()
    thread.join()
}

/// Makes a second pass in each turn. Unchecked Sendable: only the loop's thread uses it.
private final class Time: @unchecked Sendable {
    private let clock: ManualClock
    private unowned let loop: EventLoop

    init(_ clock: ManualClock, _ loop: EventLoop) {
        self.clock = clock
        self.loop = loop
    }

    func pass() {
        clock.advance(by: .seconds(1))
        loop.perform { self.pass() }
    }
}

/// The user whose sessions are followed.
private let userID: UInt32 = 1

private func readSessions(_ loop: EventLoop) -> () -> Void {
    let sessions = LoginSessions(loop: loop, userID: userID) { report in
        requireSame(report)
        guard case .sessions(let found) = report else { return }
        require(found.count <= 64, "there are \(found.count) sessions")
        require(zip(found, found.dropFirst()).allSatisfy { $0.id <= $1.id }, "the sessions are in no order")
    }
    return { sessions.stop() }
}

private func readNotifications(_ loop: EventLoop) -> () -> Void {
    let screen = Screen(loop: loop)
    return { screen.server?.stop() }
}

/// A client that sends the notification server all requests as soon as there may be one.
private final class Screen {
    private(set) var server: NotificationServer?
    /// Whether the server has reported its capabilities. Before that nothing is trusted.
    private var isKnown = false

    init(loop: EventLoop) {
        server = NotificationServer(loop: loop) { [weak self] in self?.happened($0) }
    }

    private func happened(_ event: NotificationEvent) {
        switch event {
        case .appeared: ask()
        case .gone: isKnown = false
        case .closed, .token, .chosen: require(isKnown, "an event of an unknown server is trusted")
        }
        if event.isAcceptable { requireSame(event) }
    }

    private func ask() {
        var answers = 0
        server?.ask { [weak self] names in
            answers += 1
            require(answers == 1, "a reply arrives twice")
            guard let names else { return }
            self?.isKnown = true
            require(names.count <= 64, "\(names.count) capabilities are kept")
        }
        let notification = DesktopNotification(
            headline: [.phrase("a")], details: [.phrase("b")], icon: "c",
            choices: [DesktopNotification.Choice(key: "default", label: .phrase("d"))])
        server?.show(notification, replacing: 7) { [weak self] id in
            if let id { self?.server?.withdraw(id) }
        }
    }
}

/// A report to the daemon fits a message, and reads the same there.
private func requireSame<Value: ControlMessage>(_ value: Value) {
    let text = JSON.object(value.json).encoded()
    require(text.count <= VarlinkFramer.maxMessage / 2, "\(Value.self) has \(text.count) bytes")
    guard let object = try? JSON(parsing: text, limits: JSONLimits(bytes: VarlinkFramer.maxMessage)).object,
        let again = try? Value(json: object)
    else {
        fatalError("\(Value.self) cannot be read again")
    }
    require(again.json == value.json, "\(Value.self) reads differently")
}
