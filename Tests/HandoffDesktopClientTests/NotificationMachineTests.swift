import HandoffControl
import HandoffDesktop
import HandoffDesktopClient
import HandoffModel
import HandoffTestSupport
import LoopIO
import Testing
import Timing

/// Which notification stands for which device.
@Suite struct NotificationMachineTests {
    private var screen = PlayedScreen()
    private let first = Sample.notificationOffer(title: "First", activity: 1)
    private let second = Sample.notificationOffer(title: "Second", activity: 2)
    private let third = Sample.notificationOffer(title: "Third", activity: 3)

    // MARK: - What is shown

    @Test
    mutating func `an offer is shown once there is a server, and taken off when it ends`() {
        #expect(screen.questions == 0)
        screen.take([first])
        #expect(screen.titles == ["Editor: First"] && screen.questions == 1)
        screen.take([first])
        #expect(screen.shown.count == 1)
        screen.take([])
        #expect(screen.standing.isEmpty && screen.withdrawn == [1] && screen.machine.deadline == nil)
    }

    @Test(arguments: [
        ("dismiss", ControlNotifications.Outcome.dismissed), ("mute", .dismissed), ("continue", .accepted),
    ])
    mutating func `what became of an offer is reported while it is offered`(
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

    private var outcomes: [ControlNotifications.Outcome] { screen.machine.report.offers.map(\.outcome) }

    @Test
    mutating func `what leaves the screen by itself, and what was continued elsewhere, is reported`() {
        screen.take([first])
        screen.close(1, 1)
        #expect(outcomes == [.expired])
        screen.take([second])
        screen.pass(.seconds(10))
        screen.change { $0.continued(Sample.activityID(2), from: Sample.device(1), now: $1) }
        #expect(outcomes == [.accepted])
    }

    @Test
    mutating func `what keeps everything off the screen is reported`() {
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
    mutating func `what one device offers leaves the notifications of the others where they are`() {
        screen.take([first, Sample.notificationOffer(title: "Other", device: 2, activity: 9)])
        screen.take([], of: [Sample.device(2)])
        #expect(screen.titles == ["Editor: First"])
    }

    @Test
    mutating func `a newer activity takes the place of the older after a second at the earliest`() {
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
    mutating func `an activity that ended is replaced if that is allowed in a moment, and else taken off at once`() {
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
    mutating func `another title changes what stands there, and shows nothing that went off the screen`() {
        screen.take([first])
        screen.pass(.seconds(1))
        let renamed = Sample.notificationOffer(title: "Renamed", activity: 1)
        screen.take([renamed])
        #expect(screen.titles == ["Editor: Renamed"] && screen.id == 1)
        screen.close(1, 1)
        screen.pass(.seconds(1))
        screen.take([first])
        screen.pass(.seconds(60))
        #expect(screen.standing.isEmpty && screen.shown.count == 2)
    }

    @Test
    mutating func `a thousand changes in ten seconds show six notifications, and in the end the last`() {
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
    mutating func `a member that is hundreds of devices fills no screen, and does not keep it busy`() {
        func offers(_ activity: UInt8) -> [NotificationOffer?] {
            (1...250).map { Sample.notificationOffer(title: "\(activity)", device: $0, activity: activity) }
        }
        screen.take(offers(1))
        #expect(screen.standing.count == NotificationMachine.maxShown)
        for activity in UInt8(2)...31 {
            screen.take(offers(activity))
            screen.pass(.seconds(1))
            #expect(screen.standing.count <= NotificationMachine.maxShown)
        }
        #expect(screen.shown.count <= 16 + 30 / 5 + 1)
        // Who goes makes room for another.
        screen.take(Array(offers(31).suffix(3)))
        screen.pass(.seconds(60))
        #expect(screen.titles == ["Editor: 31", "Editor: 31", "Editor: 31"])
    }

    // MARK: - The user

    @Test(arguments: [2, 0])
    mutating func `what the user does not want stays away, also when the device was out of reach`(_ reason: UInt32) {
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
        #expect(screen.standing.isEmpty && screen.shown.count == 1 && screen.continued.isEmpty)
        screen.take([second, first])
        #expect(screen.titles == ["Editor: Second"])
        screen.pass(.seconds(60))
        screen.take([first])
        #expect(screen.standing.isEmpty)
    }

    @Test
    mutating func `what is older than something that the user does not want is not shown in its stead`() {
        screen.take([second, first])
        screen.close(1, 2)
        screen.pass(.seconds(60))
        #expect(screen.standing.isEmpty)
    }

    @Test(arguments: ["default", "continue"])
    mutating func `continue continues, with the token that came before`(_ key: String) {
        screen.take([first])
        screen.machine.token(1, "token")
        screen.change { $0.chosen(1, key: key, now: $1) }
        #expect(screen.continued.map(\.offer) == [first] && screen.continued.first?.token?.text == "token")
        #expect(screen.withdrawn == [1])
        // The server says that it is closed, and perhaps that the user has chosen once more.
        screen.close(1, 2)
        screen.change { $0.chosen(1, key: key, now: $1) }
        screen.pass(.seconds(60))
        #expect(screen.continued.count == 1 && screen.shown.count == 1 && screen.standing.isEmpty)
    }

    @Test
    mutating func `what is no token, and one for another notification, is none`() {
        screen.take([first])
        screen.machine.token(1, "to\nken")
        screen.machine.token(2, "token")
        screen.change { $0.chosen(1, key: "default", now: $1) }
        #expect(screen.continued.count == 1 && screen.continued.first?.token == nil)
    }

    @Test
    mutating func `what the user cannot have chosen changes nothing`() {
        screen.take([first])
        for (id, key) in [(7, "default"), (0, "default"), (1, "inline-reply"), (1, "")] as [(UInt32, String)] {
            screen.change { $0.chosen(id, key: key, now: $1) }
        }
        screen.change { $0.closed(7, reason: 2, now: $1) }
        #expect(screen.continued.isEmpty && screen.titles == ["Editor: First"])
    }

    @Test
    mutating func `a choice that crosses a change is about what the user saw`() {
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
        #expect(screen.standing.isEmpty, "it was continued")
    }

    @Test
    mutating func `what is continued in another way is taken off`() {
        screen.take([second, first])
        screen.change { $0.continued(Sample.activityID(2), from: Sample.device(1), now: $1) }
        #expect(screen.standing.isEmpty)
        screen.change { $0.continued(Sample.activityID(1), from: Sample.device(9), now: $1) }
        screen.take([first])
        screen.pass(.seconds(60))
        #expect(screen.titles == ["Editor: First"], "another device's activity was continued")
    }

    @Test
    mutating func `why it was not continued is shown until the user has seen it, or the device offers something new`()
        throws
    {
        let offer = try #require(first)
        screen.take([first])
        screen.change { $0.chosen(1, key: "default", now: $1) }
        screen.pass(.seconds(2))
        screen.take([])
        screen.change { $0.failed(offer, "cannot reach <it>\n", now: $1) }
        #expect(screen.titles == ["Could not continue First"])
        #expect(screen.standing.values.first?.body == "Cannot reach &lt;it&gt;")
        let id = screen.id
        screen.change { $0.chosen(id, key: "default", now: $1) }
        screen.pass(.seconds(60))
        #expect(screen.standing.isEmpty && screen.continued.count == 1)
        screen.change { $0.failed(offer, "", now: $1) }
        #expect(screen.standing.values.first?.body == "Unknown reason")
        screen.pass(.seconds(60))
        screen.take([second])
        #expect(screen.titles == ["Editor: Second"])
        screen.change { $0.setQuiet(true, now: $1) }
        screen.change { $0.failed(offer, "why", now: $1) }
        screen.change { $0.setQuiet(false, now: $1) }
        screen.pass(.seconds(60))
        #expect(screen.titles == ["Editor: Second"], "who was away is told of it later")
    }

    @Test
    mutating func `what takes a while after a choice is shown until it is done, or has failed`() throws {
        let offer = try #require(first)
        screen.finishes = false
        screen.take([first])
        screen.change { $0.chosen(1, key: "continue", now: $1) }
        screen.pass(.milliseconds(999))
        #expect(screen.standing.isEmpty, "what is fast shows nothing")
        screen.pass(.milliseconds(1))
        #expect(screen.titles == ["Continuing: First"])
        #expect(screen.standing.values.first?.body == "from Telephone, in Editor")
        screen.change { $0.done(offer, now: $1) }
        #expect(screen.standing.isEmpty && screen.machine.deadline == nil)

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
    mutating func `who takes the progress off the screen does not see it again`() {
        screen.finishes = false
        screen.take([first])
        screen.change { $0.chosen(1, key: "continue", now: $1) }
        screen.pass(.seconds(2))
        screen.close(screen.id, 2)
        screen.pass(.seconds(60))
        #expect(screen.standing.isEmpty && screen.machine.deadline == nil)
    }

    @Test
    mutating func `how much more a device offers is said, and disturbs nobody when it changes`() {
        screen.take([third, second, first])
        #expect(screen.standing.values.first?.body == "from Telephone · 2 more available")
        screen.take([third, second])
        screen.pass(.seconds(60))
        #expect(screen.shown.count == 1, "it would come to the front again")
        let id = screen.id
        screen.change { $0.chosen(id, key: "dismiss", now: $1) }
        screen.take([Sample.notificationOffer(title: "Fourth", activity: 4), third])
        screen.pass(.seconds(60))
        #expect(screen.titles == ["Editor: Fourth"])
        #expect(screen.standing.values.first?.body == "from Telephone", "what is not wanted does not count")
    }

    @Test
    mutating func `an app of which nothing is wanted is muted, and its icon is shown until then`() throws {
        let opens = ControlOpens(kind: .app, name: "Editor", app: "org.example.Editor", icon: "accessories-text-editor")
        screen.take([Sample.notificationOffer(opens: opens, title: "First")])
        let shown = try #require(screen.standing.values.first)
        #expect(shown.icon == "accessories-text-editor")
        #expect(shown.choices.last?.key == "mute" && shown.choices.last?.label == "Mute Editor")
        let id = screen.id
        screen.change { $0.chosen(id, key: "mute", now: $1) }
        #expect(screen.muted == ["org.example.Editor"])
        #expect(screen.standing.isEmpty && screen.continued.isEmpty)
        // What is sent by hand is wanted, and the browser is no app of this list.
        for offer in [
            Sample.notificationOffer(opens: opens, device: 2, sent: true),
            Sample.notificationOffer(opens: ControlOpens(kind: .web), device: 3),
        ] {
            screen.take([offer])
            screen.pass(.seconds(1))
            #expect(screen.standing.values.first?.choices.contains { $0.key == "mute" } == false)
        }
    }

    // MARK: - Files

    private let file = Sample.notificationOffer(
        opens: ControlOpens(kind: .app, name: "Downloads", app: "org.example.Files"), title: "report.pdf",
        activity: 7, sent: true, type: ActivityType.content.text)

    /// The app says what became of the file.
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
    mutating func `a file that was chosen is told once it is complete, and is opened or shown`(
        _ key: String, shows: Bool
    ) throws {
        accept()
        report(.saved("/home/a/Down\u{202E}loads/report.pdf"))
        #expect(screen.titles == ["report.pdf saved to Downloads"])
        let shown = try #require(screen.standing.values.first)
        #expect(shown.body == "from Telephone")
        #expect(shown.choices.map(\.label) == ["Open", "Open", "Show in Folder"])
        let id = screen.id
        screen.machine.token(id, "token")
        screen.change { $0.chosen(id, key: key, now: $1) }
        #expect(screen.opened.map(\.path) == ["/home/a/Down\u{202E}loads/report.pdf"])
        #expect(screen.opened.map(\.shows) == [shows] && screen.opened.first?.token?.text == "token")
        screen.pass(.seconds(60))
        #expect(screen.standing.isEmpty && screen.continued.count == 1)
        report(.saved("/home/a/report.pdf"))
        #expect(screen.standing.isEmpty, "it is told twice")
    }

    @Test
    mutating func `a file that was not chosen in a notification, or of another app, is not told`() {
        screen.take([file])
        screen.pass(.seconds(1))
        screen.close(screen.id, 2)
        report(.saved("/home/a/report.pdf"))
        #expect(screen.standing.isEmpty)
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
        #expect(screen.standing.isEmpty)
    }

    @Test
    mutating func `why a file was not saved is told by who has received it, also when it was not taken over at all`()
        throws
    {
        accept()
        report(.failed("no space left <here>"))
        #expect(screen.titles == ["Could not save report.pdf"])
        #expect(screen.standing.values.first?.body == "No space left &lt;here&gt;")
        // The daemon knows only that it was refused.
        let offer = try #require(file)
        screen.change { $0.failed(offer, "the app did not take it over", now: $1) }
        screen.pass(.seconds(60))
        #expect(screen.standing.values.first?.body == "No space left &lt;here&gt;")
    }

    @Test
    mutating func `who was away when a file was complete is told of it later`() {
        accept()
        screen.change { $0.setQuiet(true, now: $1) }
        report(.saved("/report.pdf"))
        #expect(screen.standing.isEmpty)
        screen.change { $0.setQuiet(false, now: $1) }
        screen.pass(.seconds(60))
        #expect(screen.titles == ["report.pdf saved"])
        screen.change { $0.setQuiet(true, now: $1) }
        screen.change { $0.setQuiet(false, now: $1) }
        screen.pass(.seconds(60))
        #expect(screen.titles == ["report.pdf saved"], "nobody has seen it")
    }

    // MARK: - The session and the setting

    @Test
    mutating func `nothing is shown, and nobody asked, before it is known who looks`() {
        screen = PlayedScreen(isQuiet: true)
        screen.take([first])
        #expect(screen.questions == 0)
        screen.change { $0.setQuiet(false, now: $1) }
        #expect(screen.titles == ["Editor: First"])
        screen.change { $0.setQuiet(true, now: $1) }
        #expect(screen.standing.isEmpty && screen.machine.deadline == nil)
    }

    @Test
    mutating func `who comes back is shown what stands then, but not what is not wanted`() {
        let other = Sample.notificationOffer(title: "Other", device: 2, activity: 9)
        screen.take([first, other])
        for (id, notification) in screen.standing {
            screen.close(id, notification.summary.hasSuffix("Other") ? 2 : 1)
        }
        screen.pass(.seconds(60))
        #expect(screen.standing.isEmpty)
        screen.change { $0.setQuiet(true, now: $1) }
        screen.change { $0.setQuiet(false, now: $1) }
        #expect(screen.titles == ["Editor: First"])
    }

    @Test
    mutating func `switched off nothing is shown, and switched on what stands then`() {
        screen.take([first])
        screen.change { $0.setOn(false, now: $1) }
        #expect(screen.standing.isEmpty)
        screen.pass(.seconds(10))
        screen.change { $0.setOn(true, now: $1) }
        #expect(screen.titles == ["Editor: First"])
    }

    @Test
    mutating func `at the end everything is taken off, also what is on its way`() {
        let other = Sample.notificationOffer(title: "Other", device: 2, activity: 9)
        screen.take([first, other])
        screen.pass(.seconds(1))
        screen.answers = false
        screen.take([second, other])
        screen.change { $0.stop(now: $1) }
        #expect(screen.titles == ["Editor: Second"] && screen.machine.awaitsAnswer)
        var unanswered = screen
        screen.answer()
        #expect(screen.standing.isEmpty && screen.withdrawn.sorted() == [1, 2] && !screen.machine.awaitsAnswer)
        unanswered.change { machine, _ in machine.giveUp() }
        #expect(unanswered.standing.isEmpty)
        screen.take([third])
        screen.change { $0.setQuiet(true, now: $1) }
        #expect(screen.shown.count == 3 && screen.machine.deadline == nil)
    }

    // MARK: - The server

    @Test
    mutating func `without a server nobody is asked again so soon, unless one comes`() {
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
    mutating func `a server that begins anew is given what stands, by no number of the former one`() {
        screen.take([first])
        screen.lose()
        screen.pass(.seconds(1))
        #expect(screen.shown.count == 1)
        screen.change { $0.chosen(1, key: "default", now: $1) }
        screen.appear()
        #expect(screen.titles == ["Editor: First"] && screen.questions == 2 && screen.continued.isEmpty)
        // Of one that took the name over in between, too.
        screen.pass(.seconds(5))
        screen.appear()
        #expect(screen.shown.count == 3 && screen.withdrawn.isEmpty)
    }

    @Test
    mutating func `a server that appears while the answer is on its way that there is none is asked`() {
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
    mutating func `answers of a server that is gone count for nothing`() {
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
    mutating func `a notification that the server does not take is not tried again`() {
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
    mutating func `one that is no longer wanted when the server answers is taken off then`() {
        screen.answers = false
        screen.take([first])
        screen.answer(1)
        screen.take([])
        #expect(screen.withdrawn.isEmpty)
        screen.answer()
        #expect(screen.standing.isEmpty && screen.withdrawn == [1])
    }

    // MARK: - All of it

    @Test(arguments: 1...200)
    mutating func `whatever happens, the screen comes to what it should be, and never changes too often`(_ seed: UInt64)
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
            #expect(screen.standing.count <= 1 || !screen.answers)
        }
        // In the end all is answered, and time passes.
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
        #expect(screen.standing.isEmpty && screen.machine.deadline == nil)
        for (earlier, later) in zip(screen.shown, screen.shown.dropFirst()) {
            #expect(later - earlier >= .seconds(1))
        }
    }
}

/// Numbers that are the same each time (splitmix64).
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
