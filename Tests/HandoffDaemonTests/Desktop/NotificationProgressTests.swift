import HandoffControl
import HandoffDaemon
import HandoffHandlers
import HandoffModel
import HandoffTestSupport
import LoopIO
import Testing

/// The progress of files that arrive, and files that are accepted without a prompt.
@Suite struct NotificationProgressTests {
    private static let app = "dev.handoff1.files"
    private static let mebibyte: Int64 = 1 << 20

    private var screen = PlayedScreen()

    private func file(
        _ title: String, _ activity: UInt8, limit: Int64? = nil, app: String = Self.app
    ) -> NotificationOffer? {
        var offer = Sample.notificationOffer(
            opens: ControlOpens(kind: .app, name: "Downloads", app: app), title: title, activity: activity, sent: true,
            type: ActivityType.content.text)
        offer?.limit = limit
        return offer
    }

    private mutating func accept(_ files: [NotificationOffer?]) {
        screen.take(files)
        screen.pass(.seconds(2))
        let id = screen.id
        screen.change { $0.chosen(id, key: "continue", now: $1) }
    }

    @discardableResult
    private mutating func report(
        _ activity: UInt8, _ received: Int64, of size: Int64?, by app: String = Self.app
    ) -> ReportProgressReply {
        var reply = ReportProgressReply()
        let report = ReportProgressRequest(
            session: "s\(activity)", device: Sample.device(1), activity: Sample.activityID(activity),
            received: received, size: size)
        screen.change { machine, now in
            let result = machine.progressed(report, by: app, now: now)
            reply = result.reply
            return result.actions
        }
        return reply
    }

    private mutating func end(_ activity: UInt8, _ end: ReceivedEnd) {
        screen.change {
            $0.received(Sample.activityID(activity), from: Sample.device(1), by: Self.app, end, now: $1)
        }
    }

    private var only: DesktopNotification? { screen.displayed.values.first }

    // MARK: - Progress

    @Test
    mutating func `the progress of a file is shown from a second on, and updated in place once a second`() {
        accept([file("film.mp4", 1)])
        #expect(report(1, 0, of: nil) == ReportProgressReply())
        #expect(screen.displayed.isEmpty)
        screen.pass(.seconds(1))
        #expect(screen.titles == ["Saving film.mp4"])
        #expect(only?.body == "0 bytes · from Telephone" && only?.progress == nil && only?.urgency == 0)
        let id = screen.id
        let count = screen.shown.count
        for tenth in 1...100 {
            report(1, Int64(tenth) * Self.mebibyte, of: 200 * Self.mebibyte)
            screen.pass(.milliseconds(100))
        }
        screen.pass(.seconds(1))
        #expect(only?.body == "50% · 100.0 MiB of 200.0 MiB · from Telephone" && only?.progress == 50)
        #expect(only?.choices.map(\.english) == ["Cancel"])
        #expect(screen.id == id && (9...12).contains(screen.shown.count - count))
        end(1, .saved("/home/u/film.mp4"))
        screen.pass(.seconds(10))
        #expect(screen.titles == ["film.mp4 saved to u"] && only?.progress == nil)
        #expect(screen.machine.deadline == nil)
    }

    @Test
    mutating func `files that arrive together have one progress, and their results follow together`() {
        accept([file("c", 3), file("b", 2), file("a", 1)])
        for activity in UInt8(1)...3 { report(activity, Self.mebibyte, of: 4 * Self.mebibyte) }
        screen.pass(.seconds(2))
        #expect(screen.titles == ["Saving 3 files"])
        #expect(only?.body == "25% · 3.0 MiB of 12.0 MiB · from Telephone")
        report(1, 4 * Self.mebibyte, of: 4 * Self.mebibyte)
        end(1, .saved("/home/u/a"))
        end(2, .failed("no space left"))
        screen.pass(.seconds(2))
        #expect(screen.titles == ["Saving 2 files"])
        #expect(only?.body == "62% · 5.0 MiB of 8.0 MiB · 1 saved · from Telephone")
        end(3, .saved("/home/u/c"))
        screen.pass(.seconds(30))
        #expect(screen.titles == ["Could not save b"])
        screen.close(screen.id, 2)
        screen.pass(.seconds(30))
        #expect(screen.titles == ["2 files saved to u"])
    }

    @Test
    mutating func `sizes that another device invents overflow nothing`() {
        accept([file("b", 2), file("a", 1)])
        for activity in UInt8(1)...2 { report(activity, .max, of: .max) }
        screen.pass(.seconds(2))
        #expect(only?.body == "100% · 8.0 EiB of 8.0 EiB · from Telephone")
        report(1, 5, of: 0)
        report(2, 7, of: 0)
        screen.pass(.seconds(2))
        #expect(only?.body == "12 bytes of 0 bytes · from Telephone")
    }

    @Test
    mutating func `Cancel is reported to the app once, and the item is offered again when the user returns`() throws {
        screen.finishes = false
        accept([file("b", 2), file("a", 1)])
        report(1, 10, of: 100)
        screen.pass(.seconds(2))
        #expect(screen.titles == ["Saving 2 files"])
        let id = screen.id
        screen.change { $0.chosen(id, key: "cancel", now: $1) }
        #expect(screen.displayed.isEmpty)
        #expect(report(1, 20, of: 100) == ReportProgressReply(cancelled: true))
        end(1, .failed("it was cancelled"))
        let first = try #require(screen.continued.first?.offer)
        screen.change { $0.failed(first, "it was cancelled", now: $1) }
        screen.pass(.seconds(60))
        #expect(screen.displayed.isEmpty && screen.continued.count == 1, "b was continued, or a failure is shown")
        screen.change { $0.setQuiet(true, now: $1) }
        screen.change { $0.setQuiet(false, now: $1) }
        screen.pass(.seconds(60))
        #expect(screen.titles == ["Telephone sent you 2 files"])
        let next = screen.id
        screen.change { $0.chosen(next, key: "continue", now: $1) }
        #expect(report(1, 20, of: 100) == ReportProgressReply())
    }

    @Test
    mutating func `progress that the user closes stays hidden, and the result is shown`() {
        accept([file("a", 1)])
        report(1, 1, of: 9)
        screen.pass(.seconds(2))
        screen.close(screen.id, 2)
        for received in Int64(2)...8 {
            report(1, received, of: 9)
            screen.pass(.seconds(1))
        }
        #expect(screen.displayed.isEmpty && screen.machine.deadline == nil)
        end(1, .saved("/home/u/a"))
        screen.pass(.seconds(20))
        #expect(screen.titles == ["a saved to u"])
    }

    @Test
    mutating func `a file whose app ends without a result has failed, unless it is complete`() {
        accept([file("b", 2), file("a", 1)])
        report(1, 1, of: 9)
        report(2, 9, of: 9)
        screen.change { $0.sessionEnded("s2", now: $1) }
        screen.change { $0.sessionEnded("s1", now: $1) }
        screen.pass(.seconds(20))
        #expect(screen.titles == ["Could not save a"] && only?.body == "The app that received it has ended")
        screen.close(screen.id, 2)
        screen.pass(.seconds(20))
        #expect(screen.displayed.isEmpty && screen.machine.deadline == nil)
    }

    @Test
    mutating func `a restarted server shows the progress again`() {
        accept([file("a", 1)])
        report(1, 1, of: 4)
        screen.pass(.seconds(2))
        screen.lose()
        screen.appear()
        screen.pass(.seconds(20))
        #expect(screen.titles == ["Saving a"])
    }

    // MARK: - Without a prompt

    @Test
    mutating func `a file that is accepted without a prompt has a limit, and only its result is shown`() throws {
        let accepted = try #require(file("a.pdf", 1, limit: 100))
        screen.change { $0.chosen(accepted, token: nil, now: $1) }
        send([file("a.pdf", 1)])
        #expect(screen.continued.map(\.offer) == [accepted] && screen.displayed.isEmpty)
        #expect(report(1, 0, of: nil) == ReportProgressReply(limit: 100))
        end(1, .saved("/home/u/a.pdf"))
        screen.pass(.seconds(20))
        #expect(screen.titles == ["a.pdf saved to u"])
        screen.change { $0.chosen(accepted, token: nil, now: $1) }
        #expect(screen.continued.count == 1)
    }

    private mutating func send(_ files: [NotificationOffer?]) {
        screen.take(files)
        screen.pass(.seconds(2))
    }

    @Test(arguments: [false, true])
    mutating func `a file that the app refuses prompts the user, who may be away`(isQuiet: Bool) throws {
        screen.finishes = false
        screen.change { $0.setQuiet(isQuiet, now: $1) }
        let accepted = try #require(file("a.sh", 1, limit: 100))
        screen.change { $0.chosen(accepted, token: nil, now: $1) }
        send([file("a.sh", 1)])
        report(1, 0, of: nil)
        end(1, .failed("its user has to accept it there"))
        screen.change { $0.failed(accepted, "Downloads refused it", now: $1) }
        screen.change { $0.setQuiet(false, now: $1) }
        screen.pass(.seconds(20))
        #expect(screen.titles == ["Telephone sent you a.sh"])
        let id = screen.id
        screen.change { $0.chosen(id, key: "continue", now: $1) }
        #expect(screen.continued.last?.offer.limit == nil)
        #expect(report(1, 0, of: nil) == ReportProgressReply(), "the user has accepted it")
    }

    @Test
    mutating func `a file that fails after its beginning is reported, and not prompted for`() throws {
        let accepted = try #require(file("a.pdf", 1, limit: 100))
        screen.change { $0.chosen(accepted, token: nil, now: $1) }
        send([file("a.pdf", 1)])
        report(1, 50, of: 90)
        end(1, .failed("no space left"))
        screen.pass(.seconds(20))
        #expect(screen.titles == ["Could not save a.pdf"])
    }

    @Test
    mutating func `another app does not receive a file that no user has accepted`() throws {
        let accepted = try #require(file("a.pdf", 1, limit: 100))
        screen.change { $0.chosen(accepted, token: nil, now: $1) }
        #expect(report(1, 0, of: nil, by: "org.example.Player") == ReportProgressReply(cancelled: true))
    }

    @Test func `the files of chosen devices are accepted once, the oldest first`() {
        var acceptance = AutomaticAcceptance()
        let limits = [Sample.device(1): Int64(100)]
        let first = file("a", 1)
        func choose(_ offers: [NotificationOffer?], of devices: Set<DeviceID>? = nil) -> [String] {
            acceptance.choose(offers.compactMap(\.self), of: devices, limits: limits)
                .map { "\($0.title ?? "") \($0.limit ?? 0)" }
        }
        #expect(acceptance.choose([first].compactMap(\.self), limits: [:]).isEmpty)
        #expect(choose([first]) == [], "it was sent before")
        #expect(choose([file("c", 3), file("b", 2), first]) == ["b 100", "c 100"])
        #expect(choose([file("c", 3), first], of: [Sample.device(1)]) == [])
        #expect(choose([], of: [Sample.device(2)]) == [] && choose([file("c", 3)]) == [])
        // The notification machine remembers the decisions about these.
        #expect(choose([]) == [] && choose([file("c", 3)]) == ["c 100"])
        let page = Sample.notificationOffer(
            opens: ControlOpens(kind: .web), activity: 7, sent: true, type: ActivityType.browsingWeb.text)
        let offered = Sample.notificationOffer(
            opens: ControlOpens(kind: .app, app: Self.app), activity: 8, type: ActivityType.content.text)
        let foreign = Sample.notificationOffer(
            opens: ControlOpens(kind: .app, app: Self.app), device: 2, activity: 9, sent: true,
            type: ActivityType.content.text)
        #expect(choose([page, offered, foreign, file("d", 4, app: "org.example.Player")]) == [])
    }
}
