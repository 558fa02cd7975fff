import Glibc
import HandoffControl
import HandoffDaemon
import HandoffDesktopService
import HandoffHandlers
import HandoffJSON
import HandoffTestSupport
import LoopIO
import Testing

/// Notifications over a simulated `handoff-desktop` socket, whose connections are not ordered among
/// each other.
@Suite final class DesktopNotifierTests {
    private let test: LoopTest
    private var server: DesktopServer?
    private var follower: DesktopCall?
    private var shows: [DesktopCall] = []
    private var notifier: DesktopNotifier?
    private var seen: [String] = []

    init() throws {
        test = try LoopTest()
        let loop = test.loop
        let log = Logger(subsystem: "desktop", sink: MemorySink(), level: .debug)
        let server = DesktopServer(loop: loop, log: log, version: "1", userID: geteuid()) { [weak self] call in
            if call.call.method == DesktopMethod.followNotifications.rawValue {
                self?.follower = call
                call.replyContinuing(NotificationEvent.appeared.json)
            } else {
                self?.shows.append(call)
            }
        }
        self.server = server
        let link = DesktopLink(loop: loop, log: log) { () throws(DesktopConnector.Problem) in
            do throws(Errno) {
                let pair = try Descriptor.socketPair()
                server.accept(pair.second)
                return pair.first
            } catch {
                throw .notReached(error)
            }
        }
        notifier = DesktopNotifier(link) { [weak self] in self?.saw("\($0)") }
    }

    deinit {
        notifier?.stop()
        server?.stop()
    }

    private func saw(_ text: String) {
        seen.append(text)
        test.end()
    }

    private func wait(until isDone: () -> Bool) throws {
        while !isDone() {
            let timer = test.loop.timer(after: .milliseconds(1)) { [test] in test.end() }
            try test.run()
            withExtendedLifetime(timer) {}
        }
    }

    private func show() {
        let notification = DesktopNotification(headline: [.phrase("Draft")], details: [], icon: "computer", choices: [])
        notifier?.show(notification, replacing: 0) { [weak self] in self?.saw("shown \($0 ?? 0)") }
    }

    private func send(_ events: NotificationEvent...) throws {
        for event in events { follower?.replyContinuing(event.json) }
        try test.loop.runTurns(20)
    }

    @Test func `a choice waits until the id of its notification is known`() throws {
        try wait { seen == ["appeared"] }
        show()
        try wait { shows.count == 1 }
        try send(.token(7, "token"), .chosen(7, key: "default"))
        #expect(seen == ["appeared"], "the notification with the id 7 is not known yet")
        shows[0].reply(["id": .integer(7)])
        try wait { seen.count == 4 }
        #expect(seen[1...] == ["shown 7", "token(7, \"token\")", "chosen(7, key: \"default\")"])
    }

    @Test func `the events of a server that ends are dropped`() throws {
        try wait { seen == ["appeared"] }
        show()
        try wait { shows.count == 1 }
        try send(.chosen(7, key: "default"), .gone)
        #expect(seen == ["appeared", "gone"])
        shows[0].reply(["id": .null])
        try wait { seen.count == 3 }
        try send(.closed(9, reason: 1))
        #expect(seen == ["appeared", "gone", "shown 0", "closed(9, reason: 1)"])
    }
}
