import HandoffControl
import HandoffDaemon
import HandoffHandlers
import HandoffModel
import HandoffTestSupport
import LoopIO
import Testing

/// The notifications of devices that are asleep or off.
@Suite struct NotificationKeptTests {
    private var screen = PlayedScreen()
    private static let now = Sample.keptNow

    private static func offer(
        _ activity: UInt8, _ state: ControlKept.State? = nil, since: Double? = nil, streams: Bool = false,
        name: String = "Laptop"
    ) -> NotificationOffer? {
        let kept = state.map { ControlKept($0, since: since, asOf: now) }
        return Sample.notificationOffer(
            title: "Draft \(activity)", name: name, activity: activity, kept: kept, streams: streams)
    }

    private static func time(_ seconds: Double) -> String { LocalTime.short(seconds, now: now) }

    private var body: String? { screen.displayed[screen.id]?.body }

    @Test
    mutating func `a device that goes to sleep changes its notification in place, also when it wakes`() {
        screen.take([Self.offer(2), Self.offer(1)])
        screen.pass(.seconds(10))
        let id = screen.id
        // Kept activities are sorted by their copies.
        let kept = [Self.offer(1, .asleep, since: Self.now - 60), Self.offer(2, .asleep, since: Self.now - 60)]
        screen.take(kept)
        screen.pass(.seconds(10))
        #expect(screen.id == id && screen.titles == ["Editor: Draft 2"] && screen.withdrawn == [])
        let state = "asleep since \(Self.time(Self.now - 60)), as of \(Self.time(Self.now))"
        #expect(body == "from Laptop · \(state) · 1 more available")
        let count = screen.shown.count
        screen.take(kept)
        screen.pass(.seconds(10))
        #expect(screen.shown.count == count)
        screen.take([Self.offer(2), Self.offer(1)])
        screen.pass(.seconds(10))
        #expect(screen.id == id && body == "from Laptop · 1 more available" && screen.withdrawn == [])
    }

    @Test(arguments: [UInt32(1), 2])
    mutating func `a device that goes to sleep prompts for nothing that was not on the screen`(reason: UInt32) {
        screen.take([Self.offer(2), Self.offer(1)])
        screen.close(1, reason)
        let count = screen.shown.count
        screen.take([Self.offer(1, .offline), Self.offer(2, .offline)])
        screen.pass(.seconds(10))
        // The newest may not be kept.
        screen.take([Self.offer(1, .offline)])
        screen.pass(.seconds(10))
        #expect(screen.displayed.isEmpty && screen.shown.count == count)
        // The older one is offered again once the device is back and has ended the newer one.
        screen.take([Self.offer(1)])
        screen.pass(.seconds(10))
        #expect(screen.titles == ["Editor: Draft 1"])
    }

    @Test
    mutating func `a kept activity that is new here is shown like any offer`() {
        screen.take([Self.offer(1, .offline)])
        #expect(screen.titles == ["Editor: Draft 1"])
        #expect(body == "from Laptop · offline, as of \(Self.time(Self.now))")
        screen.take([Self.offer(1, .offline), Self.offer(2, .offline)])
        screen.pass(.seconds(10))
        #expect(screen.titles == ["Editor: Draft 2"])
    }

    @Test
    mutating func `the state of a continued copy is reported, with what its device would have to send`() throws {
        let offer = try #require(Self.offer(1, .asleep, since: Self.now, streams: true))
        screen.take([offer])
        let lacking = "files and streams not available until Laptop is back"
        #expect(body?.hasSuffix(" · \(lacking)") == true)
        screen.change { $0.chosen(1, key: "continue", now: $1) }
        screen.change { $0.incomplete(offer, nil, now: $1) }
        screen.pass(.seconds(10))
        let time = Self.time(Self.now)
        #expect(screen.titles == ["Continued: Draft 1"])
        #expect(body == "from Laptop · asleep since \(time), as of \(time) · \(lacking)")
        #expect(screen.displayed[screen.id]?.choices.isEmpty == true)
        screen.change { $0.incomplete(offer, "the shared folder 'notes'", now: $1) }
        screen.close(screen.id, 2)
        screen.pass(.seconds(10))
        #expect(screen.displayed.isEmpty)
    }

    @Test(arguments: [
        (ControlKept.State.asleep, "asleep, as of"), (.offline, "offline, as of"), (.ended, "closed there at"),
    ])
    mutating func `a menu has the state after the label, without hidden characters of the device`(
        state: ControlKept.State, words: String
    ) throws {
        let offer = try #require(Self.offer(1, state, streams: true, name: "Lap\u{202E}top\n{device}\u{200B}"))
        let label = TrayContent.Offer(
            device: Sample.device(1), activity: Sample.activityID(1), label: offer.menuLabel, notes: offer.menuNotes,
            icon: nil)
        let lacking =
            state == .ended
            ? "files and streams no longer available"
            : "files and streams not available until Laptop {device} is back"
        #expect(
            label.text() == "Draft 1 (Editor, Laptop {device}) · \(words) \(Self.time(Self.now)) · \(lacking)")
    }
}
