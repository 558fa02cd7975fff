import HandoffDaemon
import HandoffHandlers
import HandoffModel
import HandoffTestSupport
import LoopIO
import Testing

/// The calls to the notification server, and when it is released.
@Suite struct NotificationServiceTests {
    /// A server that replies when the test says so.
    private final class PlayedServer: NotificationServing {
        private(set) var questions: [([String]?) -> Void] = []
        private(set) var shown: [(notification: DesktopNotification, answer: (UInt32?) -> Void)] = []
        private(set) var withdrawn: [UInt32] = []
        private(set) var isStopped = false

        func ask(_ completion: @escaping ([String]?) -> Void) { questions.append(completion) }

        func show(
            _ notification: DesktopNotification, replacing former: UInt32, completion: @escaping (UInt32?) -> Void
        ) {
            shown.append((notification, completion))
        }

        func withdraw(_ id: UInt32) { withdrawn.append(id) }

        func stop() { isStopped = true }
    }

    /// A user whose choices succeed immediately.
    private final class PlayedUser: NotificationServiceDelegate {
        private(set) var muted: [AppID] = []
        private(set) var declined: [NotificationOffer] = []

        func continueChosen(
            _ offer: NotificationOffer, token: ActivationToken?, completion: @escaping (String?) -> Void
        ) {
            completion(nil)
        }

        func decline(_ offer: NotificationOffer) { declined.append(offer) }

        func saveAs(_ offers: [NotificationOffer], token: ActivationToken?) {}

        func openFile(_ path: String, shows: Bool, token: ActivationToken?) {}

        func mute(_ app: AppID) { muted.append(app) }
    }

    private let clock = ManualClock()
    private let test: LoopTest
    private let server = PlayedServer()
    private let offers: [NotificationOffer]
    private let user = PlayedUser()

    init() throws {
        test = try LoopTest(clock: clock)
        offers = [try #require(Sample.notificationOffer(title: "First"))]
    }

    private func desk() -> NotificationService {
        let desk = NotificationService(
            loop: test.loop, log: Logger(subsystem: "notifications", sink: MemorySink(), level: .debug), isOn: true,
            find: { [server] _, _ in server }, delegate: user)
        desk.setQuiet(false)
        return desk
    }

    /// A service that has sent a notification and awaits the reply.
    private func showingDesk() throws -> NotificationService {
        let desk = desk()
        desk.start()
        desk.take(offers)
        try #require(server.questions.count == 1)
        server.questions[0](["body", "actions"])
        try #require(server.shown.count == 1)
        return desk
    }

    @Test
    func `a pending notification is removed after its reply when notifications are disabled`() throws {
        let desk = try showingDesk()
        desk.setOn(false)
        #expect(!server.isStopped)
        server.shown[0].answer(5)
        #expect(server.withdrawn == [5])
        desk.take([])
        desk.take(offers)
        #expect(server.shown.count == 1)
        // After enabling again, the same server is used without another query.
        desk.setOn(true)
        clock.advance(by: .seconds(2))
        try test.loop.runTurns(2)
        #expect(server.shown.count == 2 && server.questions.count == 1)
    }

    @Test
    func `stopping waits for the reply with the id needed to remove a notification`() throws {
        let desk = try showingDesk()
        var ends = 0
        desk.stop { ends += 1 }
        #expect(ends == 0 && !server.isStopped)
        server.shown[0].answer(5)
        #expect(ends == 1 && server.withdrawn == [5])
        try test.loop.runTurns(2)
        #expect(server.isStopped)
        clock.advance(by: .seconds(1))
        try test.loop.runTurns(2)
        #expect(ends == 1)
    }

    @Test
    func `stopping waits half a second for a server that does not reply`() throws {
        let desk = try showingDesk()
        var ends = 0
        desk.stop { ends += 1 }
        clock.advance(by: .milliseconds(499))
        try test.loop.runTurns(2)
        #expect(ends == 0)
        clock.advance(by: .milliseconds(1))
        try test.loop.runTurns(2)
        #expect(ends == 1 && server.isStopped)
    }

    @Test
    func `stopping does not wait when no reply is pending`() throws {
        let desk = try showingDesk()
        server.shown[0].answer(5)
        var ends = 0
        desk.stop { ends += 1 }
        #expect(ends == 1 && server.withdrawn == [5])
    }

    @Test
    func `without a connection a query counts as no server, and the next one is delayed`()
        throws
    {
        let desk = desk()
        desk.take(offers)
        try test.loop.runTurns(2)
        desk.start()
        desk.take([])
        desk.take(offers)
        #expect(server.questions.isEmpty)
        clock.advance(by: .seconds(60))
        desk.take([])
        desk.take(offers)
        #expect(server.questions.count == 1)
    }
}
