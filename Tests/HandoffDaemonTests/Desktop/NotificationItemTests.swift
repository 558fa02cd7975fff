import HandoffControl
import HandoffDaemon
import HandoffHandlers
import HandoffModel
import HandoffTestSupport
import LoopIO
import Testing

/// The notification for items that the user of another device sends to this one.
@Suite struct NotificationItemTests {
    private var screen = PlayedScreen()
    private let names = ["a.pdf", "b.txt", "c.png"]

    private func file(_ title: String, _ activity: UInt8) -> NotificationOffer? {
        Sample.notificationOffer(
            opens: ControlOpens(kind: .app, name: "Downloads", app: "org.example.Files"), title: title,
            activity: activity, sent: true, type: ActivityType.content.text)
    }

    /// Three files, newest first, as devices list them.
    private var files: [NotificationOffer?] {
        names.enumerated().map { index, name in file(name, UInt8(index + 1)) }.reversed()
    }

    private let page = Sample.notificationOffer(
        opens: ControlOpens(kind: .web), title: "Weather", activity: 8, sent: true,
        type: ActivityType.browsingWeb.text)
    private let draft = Sample.notificationOffer(title: "Draft", activity: 9)

    private var item: DesktopNotification? { screen.displayed.values.first { $0.summary.contains("sent you") } }

    private var itemID: UInt32 { screen.displayed.first { $0.value.summary.contains("sent you") }?.key ?? 0 }

    private mutating func send(_ offers: [NotificationOffer?]) {
        screen.take(offers)
        screen.pass(.seconds(2))
    }

    private mutating func choose(_ key: String) {
        let id = itemID
        screen.change { $0.chosen(id, key: key, now: $1) }
    }

    // MARK: - Grouping

    @Test
    mutating func `items that arrive one after another share one notification, in the order in which they were sent`() {
        for count in 1...3 {
            screen.take(Array(files.suffix(count)))
            screen.pass(.milliseconds(20))
        }
        screen.pass(.seconds(2))
        #expect(screen.shown.count == 1 && screen.displayed.count == 1)
        #expect(item?.summary == "Telephone sent you 3 files")
        #expect(item?.body == "a.pdf, b.txt and c.png · go to: Downloads")
        #expect(item?.choices.map(\.english) == ["Save All", "Save All", "Decline"])
        #expect(item?.urgency == 1, "its user waits")
    }

    @Test
    mutating func `one choice continues all items in order, and the token is used once`() {
        send(files)
        screen.machine.token(itemID, "token")
        choose("continue")
        #expect(screen.continued.map(\.offer.title) == names)
        #expect(screen.continued.map { $0.token?.text } == ["token", nil, nil])
        send([])
        #expect(screen.displayed.isEmpty)
    }

    @Test
    mutating func `each item follows when the previous one has ended, even if that failed or the user is away`() throws
    {
        screen.finishes = false
        send(files)
        choose("continue")
        #expect(screen.continued.map(\.offer.title) == ["a.pdf"])
        send([page])
        choose("continue")
        #expect(screen.continued.count == 1)
        screen.pass(.seconds(20))
        #expect(screen.titles == ["Continuing: a.pdf"])
        screen.close(screen.id, 2)
        for (index, title) in ["b.txt", "c.png", "Weather"].enumerated() {
            let former = try #require(screen.continued.last?.offer)
            if index == 1 { screen.change { $0.setQuiet(true, now: $1) } }
            screen.change { index == 0 ? $0.done(former, now: $1) : $0.failed(former, "no", now: $1) }
            #expect(screen.continued.last?.offer.title == title)
        }
        let last = try #require(screen.continued.last?.offer)
        screen.change { $0.done(last, now: $1) }
        screen.change { $0.setQuiet(false, now: $1) }
        screen.pass(.seconds(20))
        #expect(screen.continued.count == 4 && screen.displayed.isEmpty && screen.machine.deadline == nil)
    }

    @Test
    mutating func `an offer chosen outside of its notification is continued once, and its notification is withdrawn`()
        throws
    {
        screen.finishes = false
        screen.take([draft])
        screen.pass(.seconds(2))
        #expect(screen.titles == ["Editor: Draft"])
        let offer = try #require(draft)
        let token = ActivationToken("t")
        for _ in 0..<2 { screen.change { $0.chosen(offer, token: token, now: $1) } }
        #expect(screen.continued.map(\.offer) == [offer] && screen.continued.first?.token == token)
        #expect(screen.displayed.isEmpty)
        screen.change { $0.failed(offer, "no", now: $1) }
        screen.pass(.seconds(20))
        #expect(screen.titles == ["Could not continue Draft"])
        screen.change { $0.chosen(offer, token: nil, now: $1) }
        #expect(screen.continued.count == 2, "it can be chosen again")
    }

    @Test
    mutating func `a file chosen outside of its notification is reported when it is saved, after the item before it`()
        throws
    {
        screen.finishes = false
        send(files)
        choose("continue")
        screen.take([file("d.txt", 7)])
        let offer = try #require(file("d.txt", 7))
        screen.change { $0.chosen(offer, token: nil, now: $1) }
        #expect(screen.continued.map(\.offer.title) == ["a.pdf"])
        let names = names
        for _ in names {
            let former = try #require(screen.continued.last?.offer)
            screen.change { $0.done(former, now: $1) }
        }
        #expect(screen.continued.last?.offer == offer)
        screen.change {
            $0.received(
                Sample.activityID(7), from: Sample.device(1), by: "org.example.Files", .saved("/home/u/d.txt"), now: $1)
        }
        screen.pass(.seconds(20))
        #expect(screen.titles == ["d.txt saved to u"])
    }

    @Test
    mutating func `a steady stream of items delays the notification only by the interval for one`() {
        var offers: [NotificationOffer?] = []
        for activity in UInt8(1)...20 {
            offers.insert(file("\(activity)", activity), at: 0)
            screen.take(offers)
            screen.pass(.milliseconds(100))
            if activity == 4 { #expect(screen.shown.count == 1) }
        }
        screen.pass(.seconds(10))
        #expect(item?.summary == "Telephone sent you 20 files")
        #expect(item?.body == "1, 2, 3 and 17 more · go to: Downloads")
    }

    @Test
    mutating func `a single item is named, and each app that would open one of several is named`() {
        send([page])
        #expect(item?.summary == "Telephone sent you Weather" && item?.body == "opens in: Web browser")
        #expect(item?.choices.map(\.english) == ["Open", "Open", "Decline"])
        send([file("a.pdf", 1), page])
        #expect(item?.summary == "Telephone sent you 2 items")
        #expect(item?.body == "Weather and a.pdf · go to: Downloads · open in: Web browser")
        #expect(item?.choices.map(\.english) == ["Accept All", "Accept All", "Decline"])
        #expect(screen.displayed.count == 1)
    }

    @Test
    mutating func `a text is copied`() {
        let text = Sample.notificationOffer(
            opens: ControlOpens(kind: .app, name: "Clipboard"), title: "first line", activity: 7, sent: true,
            type: "dev.handoff1.text")
        send([text])
        #expect(item?.summary == "Telephone sent you first line")
        #expect(item?.choices.map(\.english) == ["Copy", "Copy", "Decline"])
        send([text, file("a.pdf", 1)])
        #expect(item?.choices.map(\.english) == ["Accept All", "Accept All", "Decline"])
    }

    @Test
    mutating func `an item that was accepted elsewhere leaves the notification`() {
        send(files)
        screen.change { $0.continued(Sample.activityID(2), from: Sample.device(1), now: $1) }
        screen.pass(.seconds(2))
        #expect(item?.summary == "Telephone sent you 2 files" && screen.displayed.count == 1)
        #expect(item?.body == "a.pdf and c.png · go to: Downloads")
    }

    @Test
    mutating func `a pending item is shown again with a new one, but a dismissed one is not`() {
        send([file("a.pdf", 1)])
        screen.close(itemID, 1)
        send([file("b.txt", 2), file("a.pdf", 1)])
        #expect(item?.summary == "Telephone sent you 2 files")
        screen.close(itemID, 2)
        send([file("c.png", 3), file("b.txt", 2), file("a.pdf", 1)])
        #expect(item?.summary == "Telephone sent you c.png")
    }

    // MARK: - Offers

    @Test
    mutating func `no offer of the same device displaces an item, and no item an offer`() {
        send([file("a.pdf", 1)])
        send([draft, file("a.pdf", 1)])
        #expect(screen.titles == ["Editor: Draft", "Telephone sent you a.pdf"])
        let offer = screen.displayed.first { $0.value.summary == "Editor: Draft" }
        #expect(offer?.value.body == "from Telephone", "an item does not count as an offer")
        #expect(offer?.value.urgency == 0)
        for activity in UInt8(20)...24 {
            send([Sample.notificationOffer(title: "\(activity)", activity: activity), file("a.pdf", 1)])
        }
        #expect(screen.titles == ["Editor: 24", "Telephone sent you a.pdf"])
        choose("continue")
        #expect(screen.continued.map(\.offer.title) == ["a.pdf"])
        #expect(screen.titles == ["Editor: 24"])
    }

    // MARK: - Declining

    @Test(arguments: [1, 3])
    mutating func `dismissing declines each item of the notification`(_ count: Int) {
        send(Array(files.suffix(count)))
        choose("dismiss")
        #expect(screen.declined.map(\.title) == Array(names.prefix(count)))
        #expect(screen.displayed.isEmpty && screen.continued.isEmpty)
        send([])
        #expect(screen.displayed.isEmpty)
    }

    @Test
    mutating func `closing the notification, or dismissing an offer, declines nothing`() {
        send(files)
        screen.close(itemID, 2)
        send([draft] + files)
        let id = screen.id
        screen.change { $0.chosen(id, key: "dismiss", now: $1) }
        #expect(screen.declined.isEmpty && screen.displayed.isEmpty)
    }

    // MARK: - Save As

    @Test
    mutating func `Save As is offered for files if its window is installed, and leaves them on offer`() {
        screen.capabilities?.append("x-handoff-save-as")
        send([page] + files)
        #expect(item?.choices.map(\.key) == ["default", "continue", "dismiss"], "a page is not saved")
        choose("dismiss")
        send([file("e.txt", 5), file("d.txt", 4)])
        #expect(item?.choices.map(\.english) == ["Save All", "Save All", "Save As…", "Decline"])
        choose("save-as")
        #expect(screen.savedAs.map(\.title) == ["d.txt", "e.txt"] && screen.displayed.isEmpty)
        #expect(screen.continued.isEmpty && screen.machine.report.offers.map(\.outcome.known) == [.expired, .expired])
    }

    // MARK: - Results

    private mutating func report(_ activity: UInt8, _ end: ReceivedEnd) {
        screen.change {
            $0.received(
                Sample.activityID(activity), from: Sample.device(1), by: "org.example.Files", end, now: $1)
        }
        screen.pass(.seconds(2))
    }

    @Test
    mutating func `complete files are reported together, and shown in their folder`() {
        send(files)
        choose("continue")
        send([])
        for (index, name) in names.enumerated() { report(UInt8(index + 1), .saved("/home/a/Downloads/\(name)")) }
        screen.pass(.seconds(60))
        #expect(screen.titles == ["3 files saved to Downloads"])
        let shown = screen.displayed.values.first
        #expect(shown?.body == "a.pdf, b.txt and c.png · from Telephone")
        #expect(shown?.choices.map(\.english) == ["Show in Folder", "Show in Folder"])
        let id = screen.id
        screen.change { $0.chosen(id, key: "default", now: $1) }
        #expect(screen.opened.map(\.path) == ["/home/a/Downloads/a.pdf"] && screen.opened.map(\.shows) == [true])
        screen.pass(.seconds(60))
        #expect(screen.displayed.isEmpty)
    }

    @Test
    mutating func `each failed file is reported, then the saved ones, and a new item precedes both`() {
        send(files)
        choose("continue")
        send([])
        report(1, .saved("/home/a/Downloads/a.pdf"))
        report(2, .failed("no space left"))
        report(3, .failed("the connection was lost"))
        send([page])
        #expect(screen.titles == ["Telephone sent you Weather"])
        choose("dismiss")
        send([])
        screen.pass(.seconds(20))
        for title in ["Could not save b.txt", "Could not save c.png", "a.pdf saved to Downloads"] {
            #expect(screen.titles == [title])
            screen.close(screen.id, 2)
            screen.pass(.seconds(20))
        }
        #expect(screen.displayed.isEmpty && screen.machine.deadline == nil)
    }

    // MARK: - Missing things

    private static func unopened(_ missing: ControlMissing, activity: UInt8 = 7) -> NotificationOffer? {
        Sample.notificationOffer(
            opens: ControlOpens(kind: .nothing, reason: "no app continues it"), title: "Plan", activity: activity,
            sent: true, missing: [missing])
    }

    private static let planner = ControlMissing(
        .app, name: "org.example.Planner", appStream: "org.example.Planner")

    @Test
    mutating func `an item that nothing opens is reported once, with the app to install and without a choice`() {
        send([Self.unopened(Self.planner)])
        let note = screen.displayed.values.first
        #expect(note?.summary == "Could not continue Plan")
        #expect(
            note?.body == "Sent by Telephone: no app continues it; install org.example.Planner "
                + "(appstream://org.example.Planner)")
        #expect(note?.choices.isEmpty == true && screen.displayed.count == 1)
        screen.close(screen.id, 2)
        send([draft, Self.unopened(Self.planner)])
        send([Self.unopened(Self.planner)])
        #expect(screen.shown.count == 2 && screen.displayed.isEmpty)
    }

    @Test
    mutating func `the app to install is named once it is known, and an item can be accepted once an app opens it`() {
        send([Self.unopened(ControlMissing(.app, name: "com.example.planning"))])
        #expect(screen.displayed.values.first?.body.hasSuffix("it needs an app for com.example.planning") == true)
        send([Self.unopened(Self.planner)])
        #expect(screen.displayed.values.first?.body.contains("appstream://org.example.Planner") == true)
        send([Sample.notificationOffer(title: "Plan", activity: 7, sent: true)])
        #expect(screen.titles == ["Telephone sent you Plan"])
        send([Self.unopened(Self.planner), Sample.notificationOffer(title: "Map", activity: 8, sent: true)])
        #expect(item?.summary == "Telephone sent you Map")
        choose("continue")
        #expect(screen.continued.map(\.offer.title) == ["Map"])
    }

    @Test
    mutating func `an item that is withdrawn before anything opens it is no longer shown`() {
        send([Self.unopened(Self.planner)])
        send([])
        #expect(screen.displayed.isEmpty && screen.withdrawn.count == 1)
    }

    @Test
    mutating func `the reason why nothing opens an item is one line of plain text`() {
        let name = "<b>\u{202E}" + String(repeating: "x\n", count: 500)
        send([Self.unopened(ControlMissing(.app, name: name))])
        let body = screen.displayed.values.first?.body ?? ""
        #expect(body.contains("&lt;b&gt;") && !body.contains("\n") && body.count < 300)
    }

    @Test
    mutating func `a continued activity that needs a missing folder is reported`() throws {
        let offer = try #require(draft)
        screen.change { $0.incomplete(offer, "the shared folder 'notes'", now: $1) }
        screen.pass(.seconds(2))
        #expect(screen.titles == ["Draft from Telephone: something is missing"])
        #expect(screen.displayed.values.first?.body == "Not on this device: the shared folder &#39;notes&#39;")
    }
}
