import HandoffControl
import HandoffDaemon
import HandoffHandlers
import HandoffModel
import HandoffTestSupport
import LoopIO
import Testing

/// The choice of notifications for devices.
@Suite struct NotificationMachineTests {
    private var screen = PlayedScreen()
    private let first = Sample.notificationOffer(title: "First", activity: 1)
    private let second = Sample.notificationOffer(title: "Second", activity: 2)
    private let third = Sample.notificationOffer(title: "Third", activity: 3)

    // MARK: - Content

    @Test
    mutating func `an offer is shown once there is a server, and removed when it ends`() {
        #expect(screen.questions == 0)
        screen.take([first])
        #expect(screen.titles == ["Editor: First"] && screen.questions == 1)
        screen.take([first])
        #expect(screen.shown.count == 1)
        screen.take([])
        #expect(screen.displayed.isEmpty && screen.withdrawn == [1] && screen.machine.deadline == nil)
    }

    @Test(arguments: [
        ("dismiss", ControlNotifications.Outcome.dismissed), ("mute", .dismissed), ("continue", .accepted),
    ])
    mutating func `the outcome of an offer is reported while it is offered`(
        key: String, outcome: ControlNotifications.Outcome
    ) {
        #expect(screen.machine.report == ControlNotifications(state: .unknown))
        screen.take([first])
        #expect(outcomes == [.shown] && screen.machine.report.state == .on)
        screen.change { $0.chosen(1, key: key, now: $1) }
        #expect(outcomes == [outcome])
        screen.take([second, first])
        screen.pass(.seconds(10))
        #expect(outcomes == [.shown, outcome])
        screen.take([second])
        #expect(outcomes == [.shown])
    }

    private var outcomes: [ControlNotifications.Outcome] { screen.machine.report.offers.compactMap(\.outcome.known) }

    @Test
    mutating func `expired notifications and activities continued elsewhere are reported`() {
        screen.take([first])
        screen.close(1, 1)
        #expect(outcomes == [.expired])
        screen.take([second])
        screen.pass(.seconds(10))
        screen.change { $0.continued(Sample.activityID(2), from: Sample.device(1), now: $1) }
        #expect(outcomes == [.accepted])
    }

    @Test
    mutating func `the reason for showing nothing is reported`() {
        screen.capabilities = nil
        screen.take([first])
        #expect(screen.machine.report == ControlNotifications(state: .unavailable))
        screen.change { $0.setQuiet(true, now: $1) }
        #expect(screen.machine.report.state == .away)
        screen.change { $0.setOn(false, now: $1) }
        #expect(screen.machine.report.state == .off)
    }

    @Test
    mutating func `each device has one notification, that of its newest activity`() {
        let other = Sample.notificationOffer(title: "Other", device: 2, activity: 9)
        screen.take([second, other, first])
        #expect(screen.titles == ["Editor: Other", "Editor: Second"])
        screen.take([second, first])
        #expect(screen.titles == ["Editor: Second"])
    }

    @Test
    mutating func `the offers of one device do not change the notifications of others`() {
        screen.take([first, Sample.notificationOffer(title: "Other", device: 2, activity: 9)])
        screen.take([], of: [Sample.device(2)])
        #expect(screen.titles == ["Editor: First"])
    }

    @Test
    mutating func `a newer activity replaces an older one after one second at the earliest`() {
        screen.take([first])
        screen.take([second, first])
        #expect(screen.titles == ["Editor: First"])
        screen.pass(.milliseconds(999))
        #expect(screen.titles == ["Editor: First"])
        screen.pass(.milliseconds(1))
        #expect(screen.titles == ["Editor: Second"] && screen.id == 1 && screen.withdrawn.isEmpty)
        screen.pass(.seconds(60))
        screen.take([first])
        #expect(screen.titles == ["Editor: First"] && screen.id == 1)
    }

    @Test
    mutating func `an ended activity is replaced if that is allowed soon, and otherwise removed immediately`() {
        screen.take([first])
        screen.take([second])
        #expect(screen.titles == ["Editor: First"])
        screen.pass(.seconds(1))
        #expect(screen.titles == ["Editor: Second"] && screen.withdrawn.isEmpty)
        for number in 3..<6 {
            screen.take([Sample.notificationOffer(title: "\(number)", activity: UInt8(number))])
            screen.pass(.seconds(1))
        }
        #expect(screen.titles == ["Editor: 5"])
        screen.take([Sample.notificationOffer(title: "6", activity: 6)])
        #expect(screen.titles.isEmpty && screen.withdrawn == [1])
        screen.pass(.seconds(6))
        #expect(screen.titles == ["Editor: 6"])
    }

    @Test
    mutating func `another title changes the shown notification, but does not show a closed one again`() {
        screen.take([first])
        screen.pass(.seconds(1))
        let renamed = Sample.notificationOffer(title: "Renamed", activity: 1)
        screen.take([renamed])
        #expect(screen.titles == ["Editor: Renamed"] && screen.id == 1)
        screen.close(1, 1)
        screen.pass(.seconds(1))
        screen.take([first])
        screen.pass(.seconds(60))
        #expect(screen.displayed.isEmpty && screen.shown.count == 2)
    }

    @Test
    mutating func `a thousand changes in ten seconds show six notifications, the last of them at the end`() {
        for number in 1...1000 {
            screen.take([Sample.notificationOffer(title: "\(number)", activity: UInt8(number % 250))])
            screen.pass(.milliseconds(10))
        }
        #expect(screen.shown.count <= 6)
        screen.pass(.seconds(10))
        #expect(screen.titles == ["Editor: 1000"])
        for (earlier, later) in zip(screen.shown, screen.shown.dropFirst()) {
            #expect(later - earlier >= .seconds(1))
        }
    }

    @Test
    mutating func `a member with hundreds of devices does not fill the screen or keep it busy`() {
        func offers(_ activity: UInt8) -> [NotificationOffer?] {
            (1...250).map { Sample.notificationOffer(title: "\(activity)", device: $0, activity: activity) }
        }
        screen.take(offers(1))
        #expect(screen.displayed.count == NotificationMachine.maxShown)
        for activity in UInt8(2)...31 {
            screen.take(offers(activity))
            screen.pass(.seconds(1))
            #expect(screen.displayed.count <= NotificationMachine.maxShown)
        }
        #expect(screen.shown.count <= 16 + 30 / 5 + 1)
        // A device that leaves makes room for another.
        screen.take(Array(offers(31).suffix(3)))
        screen.pass(.seconds(60))
        #expect(screen.titles == ["Editor: 31", "Editor: 31", "Editor: 31"])
    }

    // MARK: - The user

    @Test(arguments: [2, 0])
    mutating func `a dismissed activity is not shown again, even after its device was unreachable`(_ reason: UInt32) {
        screen.take([first])
        if reason == 0 {
            screen.change { $0.chosen(1, key: "dismiss", now: $1) }
        } else {
            screen.close(1, reason)
        }
        for offers in [[first], [], [first]] {
            screen.take(offers)
            screen.pass(.seconds(60))
        }
        #expect(screen.displayed.isEmpty && screen.shown.count == 1 && screen.continued.isEmpty)
        screen.take([second, first])
        #expect(screen.titles == ["Editor: Second"])
        screen.pass(.seconds(60))
        screen.take([first])
        #expect(screen.displayed.isEmpty)
    }

    @Test
    mutating func `an older activity is not shown instead of a dismissed one`() {
        screen.take([second, first])
        screen.close(1, 2)
        screen.pass(.seconds(60))
        #expect(screen.displayed.isEmpty)
    }

    @Test(arguments: ["default", "continue"])
    mutating func `choosing continue continues the activity with the preceding token`(_ key: String) {
        screen.take([first])
        screen.machine.token(1, "token")
        screen.change { $0.chosen(1, key: key, now: $1) }
        #expect(screen.continued.map(\.offer) == [first] && screen.continued.first?.token?.text == "token")
        #expect(screen.withdrawn == [1])
        // The server reports that it is closed, and possibly a second choice.
        screen.close(1, 2)
        screen.change { $0.chosen(1, key: key, now: $1) }
        screen.pass(.seconds(60))
        #expect(screen.continued.count == 1 && screen.shown.count == 1 && screen.displayed.isEmpty)
    }

    @Test
    mutating func `an invalid token, and one for another notification, is ignored`() {
        screen.take([first])
        screen.machine.token(1, "to\nken")
        screen.machine.token(2, "token")
        screen.change { $0.chosen(1, key: "default", now: $1) }
        #expect(screen.continued.count == 1 && screen.continued.first?.token == nil)
    }

    @Test
    mutating func `an impossible choice changes nothing`() {
        screen.take([first])
        for (id, key) in [(7, "default"), (0, "default"), (1, "inline-reply"), (1, "")] as [(UInt32, String)] {
            screen.change { $0.chosen(id, key: key, now: $1) }
        }
        screen.change { $0.closed(7, reason: 2, now: $1) }
        #expect(screen.continued.isEmpty && screen.titles == ["Editor: First"])
    }

    @Test
    mutating func `a choice that crosses a change applies to what the user saw`() {
        screen.take([first])
        screen.answers = false
        screen.pass(.seconds(1))
        screen.take([second, first])
        screen.change { $0.chosen(1, key: "default", now: $1) }
        #expect(screen.continued.map(\.offer) == [first])
        screen.answer()
        screen.pass(.seconds(60))
        #expect(screen.titles == ["Editor: Second"] && screen.withdrawn.isEmpty)
        screen.take([first])
        #expect(screen.displayed.isEmpty, "it was continued")
    }

    @Test
    mutating func `an activity that is continued elsewhere is removed`() {
        screen.take([second, first])
        screen.change { $0.continued(Sample.activityID(2), from: Sample.device(1), now: $1) }
        #expect(screen.displayed.isEmpty)
        screen.change { $0.continued(Sample.activityID(1), from: Sample.device(9), now: $1) }
        screen.take([first])
        screen.pass(.seconds(60))
        #expect(screen.titles == ["Editor: First"], "an activity of another device was continued")
    }

    @Test
    mutating func `a failure to continue is shown until the user has seen it or the device offers something new`()
        throws
    {
        let offer = try #require(first)
        screen.take([first])
        screen.change { $0.chosen(1, key: "default", now: $1) }
        screen.pass(.seconds(2))
        screen.take([])
        screen.change { $0.failed(offer, "cannot reach <it>\n", now: $1) }
        #expect(screen.titles == ["Could not continue First"])
        #expect(screen.displayed.values.first?.body == "Cannot reach &lt;it&gt;")
        let id = screen.id
        screen.change { $0.chosen(id, key: "default", now: $1) }
        screen.pass(.seconds(60))
        #expect(screen.displayed.isEmpty && screen.continued.count == 1)
        screen.change { $0.failed(offer, "", now: $1) }
        #expect(screen.displayed.values.first?.body == "Unknown reason")
        screen.pass(.seconds(60))
        screen.take([second])
        #expect(screen.titles == ["Editor: Second"])
        screen.change { $0.setQuiet(true, now: $1) }
        screen.change { $0.failed(offer, "why", now: $1) }
        screen.change { $0.setQuiet(false, now: $1) }
        screen.pass(.seconds(60))
        #expect(screen.titles == ["Editor: Second"], "a user who was away is notified later")
    }

    @Test(arguments: [false, true])
    mutating func `a newer state of a chosen activity is named, and the user chooses one of both`(isHere: Bool) throws {
        let offer = try #require(first)
        let other = try #require(Sample.notificationOffer(title: "Letter", name: "Tablet", device: 2, activity: 9))
        let newer = NewerState(
            activity: Sample.activityID(9), device: Sample.device(2), deviceName: "<Tablet>\u{202E}", here: isHere,
            since: Sample.keptNow)
        let note = NewerNote(newer, offer: isHere ? nil : other, now: Sample.keptNow)
        let place = isHere ? "this device" : "<Tablet>"
        var keys = ["older", "default"]
        if !isHere { keys.append("newer") }
        for key in keys {
            let count = screen.continued.count
            screen.change { $0.foundNewer(note, than: offer, now: $1) }
            screen.pass(.seconds(10))
            #expect(screen.titles == ["First is newer on \(place)"])
            let notification = try #require(screen.displayed[screen.id])
            #expect(notification.body == "since \(LocalTime.short(Sample.keptNow, now: Sample.keptNow))")
            #expect(notification.choices.map(\.key) == (isHere ? ["older"] : ["default", "newer", "older"]))
            let id = screen.id
            screen.change { $0.chosen(id, key: key, now: $1) }
            screen.pass(.seconds(10))
            #expect(screen.displayed.isEmpty)
            let continued = screen.continued.dropFirst(count).map(\.offer)
            var older = offer
            older.mayBeOlder = true
            #expect(continued == (key == "older" ? [older] : isHere ? [] : [other]))
        }
        screen.change { $0.setQuiet(true, now: $1) }
        screen.change { $0.foundNewer(note, than: offer, now: $1) }
        screen.change { $0.setQuiet(false, now: $1) }
        #expect(screen.displayed.isEmpty, "a user who was away is notified later")
    }

    @Test
    mutating func `slow progress after a choice is shown until it has succeeded or failed`() throws {
        let offer = try #require(first)
        screen.finishes = false
        screen.take([first])
        screen.change { $0.chosen(1, key: "continue", now: $1) }
        screen.pass(.milliseconds(999))
        #expect(screen.displayed.isEmpty, "a fast continuation shows no progress")
        screen.pass(.milliseconds(1))
        #expect(screen.titles == ["Continuing: First"])
        #expect(screen.displayed.values.first?.body == "from Telephone, in Editor")
        screen.change { $0.done(offer, now: $1) }
        #expect(screen.displayed.isEmpty && screen.machine.deadline == nil)

        screen.take([second])
        screen.pass(.seconds(60))
        let other = try #require(second)
        let id = screen.id
        screen.change { $0.chosen(id, key: "continue", now: $1) }
        screen.pass(.seconds(5))
        #expect(screen.titles == ["Continuing: Second"])
        screen.change { $0.failed(other, "no answer", now: $1) }
        screen.pass(.seconds(5))
        #expect(screen.titles == ["Could not continue Second"])
    }

    @Test
    mutating func `dismissed progress is not shown again`() {
        screen.finishes = false
        screen.take([first])
        screen.change { $0.chosen(1, key: "continue", now: $1) }
        screen.pass(.seconds(2))
        screen.close(screen.id, 2)
        screen.pass(.seconds(60))
        #expect(screen.displayed.isEmpty && screen.machine.deadline == nil)
    }

    @Test
    mutating func `the number of further offers is shown, and a change of it causes no new notification`() {
        screen.take([third, second, first])
        #expect(screen.displayed.values.first?.body == "from Telephone · 2 more available")
        screen.take([third, second])
        screen.pass(.seconds(60))
        #expect(screen.shown.count == 1, "it would be raised again")
        let id = screen.id
        screen.change { $0.chosen(id, key: "dismiss", now: $1) }
        screen.take([Sample.notificationOffer(title: "Fourth", activity: 4), third])
        screen.pass(.seconds(60))
        #expect(screen.titles == ["Editor: Fourth"])
        #expect(screen.displayed.values.first?.body == "from Telephone", "a dismissed offer does not count")
    }

    @Test
    mutating func `an app can be muted, and its icon is shown until then`() throws {
        let opens = ControlOpens(kind: .app, name: "Editor", app: "org.example.Editor", icon: "accessories-text-editor")
        screen.take([Sample.notificationOffer(opens: opens, title: "First")])
        let shown = try #require(screen.displayed.values.first)
        #expect(shown.icon == "accessories-text-editor")
        #expect(shown.choices.last?.key == "mute" && shown.choices.last?.english == "Mute Editor")
        let id = screen.id
        screen.change { $0.chosen(id, key: "mute", now: $1) }
        #expect(screen.muted == ["org.example.Editor"])
        #expect(screen.displayed.isEmpty && screen.continued.isEmpty)
        // Items that a user sent are still shown, and the browser cannot be muted.
        for offer in [
            Sample.notificationOffer(opens: opens, device: 2, sent: true),
            Sample.notificationOffer(opens: ControlOpens(kind: .web), device: 3),
        ] {
            screen.take([offer])
            screen.pass(.seconds(1))
            #expect(screen.displayed.values.first?.choices.contains { $0.key == "mute" } == false)
        }
    }

    // MARK: - Files

    private let file = Sample.notificationOffer(
        opens: ControlOpens(kind: .app, name: "Downloads", app: "org.example.Files"), title: "report.pdf",
        activity: 7, sent: true, type: ActivityType.content.text)

    /// Reports the result of the file, as the app does.
    private mutating func report(_ end: ReceivedEnd, by app: String = "org.example.Files") {
        screen.change { $0.received(Sample.activityID(7), from: Sample.device(1), by: app, end, now: $1) }
        screen.pass(.seconds(60))
    }

    private mutating func accept() {
        screen.take([file])
        screen.pass(.seconds(1))
        #expect(screen.titles == ["Telephone sent you report.pdf"])
        let id = screen.id
        screen.change { $0.chosen(id, key: "continue", now: $1) }
        screen.take([])
    }

    @Test(arguments: [("default", false), ("open", false), ("show", true)])
    mutating func `a chosen file is reported when it is complete, and opened or shown`(
        _ key: String, shows: Bool
    ) throws {
        accept()
        report(.saved("/home/a/Down\u{202E}loads/report.pdf"))
        #expect(screen.titles == ["report.pdf saved to Downloads"])
        let shown = try #require(screen.displayed.values.first)
        #expect(shown.body == "from Telephone")
        #expect(shown.choices.map(\.english) == ["Open", "Open", "Show in Folder"])
        let id = screen.id
        screen.machine.token(id, "token")
        screen.change { $0.chosen(id, key: key, now: $1) }
        #expect(screen.opened.map(\.path) == ["/home/a/Down\u{202E}loads/report.pdf"])
        #expect(screen.opened.map(\.shows) == [shows] && screen.opened.first?.token?.text == "token")
        screen.pass(.seconds(60))
        #expect(screen.displayed.isEmpty && screen.continued.count == 1)
        report(.saved("/home/a/report.pdf"))
        #expect(screen.displayed.isEmpty, "it is reported twice")
    }

    @Test
    mutating func `a file that was not chosen in a notification, or is reported by another app, is not shown`() {
        screen.take([file])
        screen.pass(.seconds(1))
        screen.close(screen.id, 2)
        report(.saved("/home/a/report.pdf"))
        #expect(screen.displayed.isEmpty)
        let other = Sample.notificationOffer(
            opens: ControlOpens(kind: .app, name: "Downloads", app: "org.example.Files"), activity: 8,
            type: ActivityType.content.text)
        screen.take([other])
        let id = screen.id
        screen.change { $0.chosen(id, key: "continue", now: $1) }
        report(.saved("/home/a/report.pdf"))
        screen.change {
            $0.received(
                Sample.activityID(8), from: Sample.device(1), by: "org.example.Evil", .saved("/home/a/x"), now: $1)
        }
        screen.pass(.seconds(60))
        #expect(screen.displayed.isEmpty)
    }

    @Test
    mutating func `the receiving app's reason for a file that was not saved is shown, even if it did not accept it`()
        throws
    {
        accept()
        report(.failed("no space left <here>"))
        #expect(screen.titles == ["Could not save report.pdf"])
        #expect(screen.displayed.values.first?.body == "No space left &lt;here&gt;")
        // The daemon only knows that the app refused it.
        let offer = try #require(file)
        screen.change { $0.failed(offer, "the app did not take it over", now: $1) }
        screen.pass(.seconds(60))
        #expect(screen.displayed.values.first?.body == "No space left &lt;here&gt;")
    }

    @Test
    mutating func `a user who was away when a file was complete is notified later`() {
        accept()
        screen.change { $0.setQuiet(true, now: $1) }
        report(.saved("/report.pdf"))
        #expect(screen.displayed.isEmpty)
        screen.change { $0.setQuiet(false, now: $1) }
        screen.pass(.seconds(60))
        #expect(screen.titles == ["report.pdf saved"])
        screen.change { $0.setQuiet(true, now: $1) }
        screen.change { $0.setQuiet(false, now: $1) }
        screen.pass(.seconds(60))
        #expect(screen.titles == ["report.pdf saved"], "the user has not seen it")
    }

    // MARK: - The session and the setting

    @Test
    mutating func `nothing is shown or queried before the session is known`() {
        screen = PlayedScreen(isQuiet: true)
        screen.take([first])
        #expect(screen.questions == 0)
        screen.change { $0.setQuiet(false, now: $1) }
        #expect(screen.titles == ["Editor: First"])
        screen.change { $0.setQuiet(true, now: $1) }
        #expect(screen.displayed.isEmpty && screen.machine.deadline == nil)
    }

    @Test
    mutating func `a user who returns sees the current offers, except dismissed ones`() {
        let other = Sample.notificationOffer(title: "Other", device: 2, activity: 9)
        screen.take([first, other])
        for (id, notification) in screen.displayed {
            screen.close(id, notification.summary.hasSuffix("Other") ? 2 : 1)
        }
        screen.pass(.seconds(60))
        #expect(screen.displayed.isEmpty)
        screen.change { $0.setQuiet(true, now: $1) }
        screen.change { $0.setQuiet(false, now: $1) }
        #expect(screen.titles == ["Editor: First"])
    }

    @Test
    mutating func `nothing is shown while disabled, and the current offers once enabled`() {
        screen.take([first])
        screen.change { $0.setOn(false, now: $1) }
        #expect(screen.displayed.isEmpty)
        screen.pass(.seconds(10))
        screen.change { $0.setOn(true, now: $1) }
        #expect(screen.titles == ["Editor: First"])
    }

    @Test
    mutating func `stopping removes everything, including notifications that await an id`() {
        let other = Sample.notificationOffer(title: "Other", device: 2, activity: 9)
        screen.take([first, other])
        screen.pass(.seconds(1))
        screen.answers = false
        screen.take([second, other])
        screen.change { $0.stop(now: $1) }
        #expect(screen.titles == ["Editor: Second"] && screen.machine.awaitsReply)
        var unanswered = screen
        screen.answer()
        #expect(screen.displayed.isEmpty && screen.withdrawn.sorted() == [1, 2] && !screen.machine.awaitsReply)
        unanswered.change { machine, _ in machine.giveUp() }
        #expect(unanswered.displayed.isEmpty)
        screen.take([third])
        screen.change { $0.setQuiet(true, now: $1) }
        #expect(screen.shown.count == 3 && screen.machine.deadline == nil)
    }

    // MARK: - The server

    @Test
    mutating func `without a server the next query is delayed, unless one appears`() {
        screen.capabilities = nil
        screen.take([first])
        #expect(screen.questions == 1 && screen.machine.deadline == nil)
        screen.take([second])
        screen.pass(.seconds(59))
        screen.take([first])
        #expect(screen.questions == 1)
        screen.pass(.seconds(1))
        screen.take([second])
        #expect(screen.questions == 2)
        screen.capabilities = []
        screen.appear()
        #expect(screen.titles == ["Editor: Second – from Telephone"])
    }

    @Test
    mutating func `a restarted server is sent the current notifications, without ids of the previous one`() {
        screen.take([first])
        screen.lose()
        screen.pass(.seconds(1))
        #expect(screen.shown.count == 1)
        screen.change { $0.chosen(1, key: "default", now: $1) }
        screen.appear()
        #expect(screen.titles == ["Editor: First"] && screen.questions == 2 && screen.continued.isEmpty)
        // The same for a server that takes over the name.
        screen.pass(.seconds(5))
        screen.appear()
        #expect(screen.shown.count == 3 && screen.withdrawn.isEmpty)
    }

    @Test
    mutating func `a server that appears before the reply that there is none is queried`() {
        screen.answers = false
        screen.take([first])
        screen.appear()
        #expect(screen.questions == 1)
        screen.answer(1, refuse: true)
        #expect(screen.questions == 2)
        screen.answer()
        #expect(screen.titles == ["Editor: First"])
    }

    @Test
    mutating func `replies of a lost server are ignored`() {
        screen.answers = false
        screen.take([first])
        var other = screen
        screen.lose()
        screen.change { $0.answered(1, NotificationCapabilities([]), now: $1) }
        #expect(screen.shown.isEmpty)
        other.answer(1)
        #expect(other.shown.count == 1)
        other.lose()
        other.change { $0.shown(2, as: 9, now: $1) }
        other.change { $0.chosen(9, key: "default", now: $1) }
        #expect(other.continued.isEmpty)
    }

    @Test
    mutating func `a notification that the server refuses is not retried`() {
        screen.answers = false
        screen.take([first])
        screen.answer(1)
        screen.answer(refuse: true)
        screen.pass(.seconds(600))
        screen.take([first])
        #expect(screen.shown.count == 1)
        screen.take([second])
        #expect(screen.shown.count == 2)
    }

    @Test
    mutating func `a notification that became obsolete before the reply is removed after it`() {
        screen.answers = false
        screen.take([first])
        screen.answer(1)
        screen.take([])
        #expect(screen.withdrawn.isEmpty)
        screen.answer()
        #expect(screen.displayed.isEmpty && screen.withdrawn == [1])
    }

    // MARK: - Random events

    @Test(arguments: 1...200)
    mutating func `after any events, the screen reaches the desired state, and never changes too often`(_ seed: UInt64)
    {
        var random = Steps(state: seed)
        var offers: [NotificationOffer?] = []
        var isQuiet = false
        for _ in 0..<300 {
            let id = screen.id
            switch Int.random(in: 0..<14, using: &random) {
            case 0, 1, 2:
                offers = (0..<Int.random(in: 0..<4, using: &random)).map { _ in
                    let number = UInt8.random(in: 1...4, using: &random)
                    return Sample.notificationOffer(title: Bool.random(using: &random) ? "a" : "b", activity: number)
                }
                screen.take(offers)
            case 3:
                isQuiet.toggle()
                screen.change { $0.setQuiet(isQuiet, now: $1) }
            case 4: screen.answers.toggle()
            case 5: screen.answer(Int.random(in: 0..<3, using: &random))
            case 6:
                screen.lose()
                if Bool.random(using: &random) { screen.appear() }
            case 7: screen.appear()
            case 8: screen.machine.token(id, "token")
            case 9:
                guard screen.answers else { continue }
                let reason = UInt32.random(in: 1...4, using: &random)
                screen.close(id, reason)
            case 10: screen.change { $0.chosen(id, key: "continue", now: $1) }
            case 11:
                if let offer = offers.first ?? nil { screen.change { $0.failed(offer, "why", now: $1) } }
            default: screen.pass(.milliseconds(Int.random(in: 0..<4000, using: &random)))
            }
            #expect(screen.displayed.count <= 1 || !screen.answers)
        }
        // Finally, all replies arrive and time passes.
        screen.answers = true
        screen.answer()
        screen.lose()
        screen.appear()
        screen.change { $0.setQuiet(false, now: $1) }
        let last = Sample.notificationOffer(title: "Last", activity: 200)
        screen.take([last])
        screen.pass(.seconds(60))
        #expect(screen.titles == ["Editor: Last"])
        screen.take([])
        #expect(screen.displayed.isEmpty && screen.machine.deadline == nil)
        for (earlier, later) in zip(screen.shown, screen.shown.dropFirst()) {
            #expect(later - earlier >= .seconds(1))
        }
    }
}

/// Reproducible random numbers (splitmix64).
private struct Steps: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}
