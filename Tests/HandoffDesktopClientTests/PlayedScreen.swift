import HandoffControl
import HandoffDesktop
import HandoffDesktopClient
import HandoffHandlers
import HandoffModel
import HandoffTestSupport
import LoopIO
import Timing

extension Sample {
    /// An offer as notifications speak of it.
    static func notificationOffer(
        opens: ControlOpens = ControlOpens(kind: .app, name: "Editor"), title: String? = "Draft",
        name: String = "Telephone", kind: DeviceKind = .phone, device: UInt8 = 1, activity: UInt8 = 1,
        sent: Bool = false, type: String = "com.example.editing"
    ) -> NotificationOffer? {
        guard let type = ActivityType(type) else { return nil }
        return NotificationOffer(
            ControlActivity(
                id: activityID(activity), type: type, title: title, team: nil, device: Sample.device(device),
                deviceName: name, deviceKind: kind, streams: false, hasWebpageURL: false, age: 0, sent: sent,
                opens: opens))
    }
}

/// A machine with a notification server that is played: does at once what the machine wants, and says so at once or when it is
/// told to, always in the order in which it was asked.
struct PlayedScreen {
    /// What the server says, but not before it is allowed to.
    private enum News {
        case answer(UInt64)
        case shown(UInt64, as: UInt32)
        case closed(UInt32)
    }

    var machine = NotificationMachine(isOn: true)
    var now = MonotonicInstant(nanoseconds: 1_000_000_000_000)
    /// What stands on the screen, by its id.
    private(set) var standing: [UInt32: DesktopNotification] = [:]
    /// When something was shown.
    private(set) var shown: [MonotonicInstant] = []
    private(set) var withdrawn: [UInt32] = []
    /// What was continued, and with which token.
    private(set) var continued: [(offer: NotificationOffer, token: ActivationToken?)] = []
    /// Whether the server answers by itself.
    var answers = true {
        didSet {
            if answers { answer() }
        }
    }
    /// The items that were declined.
    private(set) var declined: [NotificationOffer] = []
    /// The apps of which no notification is wanted.
    private(set) var muted: [String] = []
    /// The files that were opened or shown, and with which token.
    private(set) var opened: [(path: String, shows: Bool, token: ActivationToken?)] = []
    /// Whether what is continued is done at once.
    var finishes = true
    /// What the server would answer when it is asked; nil: there is none.
    var capabilities: [String]? = ["body", "body-markup", "actions"]
    private(set) var questions = 0
    private var pending: [News] = []
    private var lastID: UInt32 = 0

    /// A screen in front of which somebody sits.
    init(isQuiet: Bool = false) {
        if !isQuiet { change { $0.setQuiet(false, now: $1) } }
    }

    /// The titles of what stands on the screen.
    var titles: [String] { standing.values.map(\.summary).sorted() }

    /// The one id on the screen.
    var id: UInt32 { standing.keys.first ?? 0 }

    mutating func change(_ body: (inout NotificationMachine, MonotonicInstant) -> [NotificationMachine.Action]) {
        let actions = body(&machine, now)
        for action in actions { perform(action) }
        while answers, !pending.isEmpty { tell(pending.removeFirst(), refuse: false) }
    }

    mutating func take(_ offers: [NotificationOffer?], of devices: Set<DeviceID>? = nil) {
        change { $0.take(offers.compactMap(\.self), of: devices, now: $1) }
    }

    /// Moves time on, and fires what is due on the way.
    mutating func pass(_ time: Duration) {
        let end = now + time
        while let deadline = machine.deadline, deadline <= end {
            now = max(now, deadline)
            change { $0.deadlinePassed(now: $1) }
        }
        now = end
    }

    /// Says what waits to be said, oldest first.
    mutating func answer(_ count: Int = .max, refuse: Bool = false) {
        for _ in 0..<min(count, pending.count) where !pending.isEmpty {
            tell(pending.removeFirst(), refuse: refuse)
        }
    }

    /// A notification goes off the screen.
    mutating func close(_ id: UInt32, _ reason: UInt32) {
        standing[id] = nil
        change { $0.closed(id, reason: reason, now: $1) }
    }

    /// The server ends, or the bus does.
    mutating func lose() {
        standing = [:]
        pending = []
        machine.serverGone(now: now)
    }

    /// A server comes, with nothing on its screen.
    mutating func appear() {
        standing = [:]
        // Only the new one is believed; but a question went to whoever has the name.
        pending.removeAll { if case .answer = $0 { false } else { true } }
        change { $0.serverAppeared(now: $1) }
    }

    private mutating func perform(_ action: NotificationMachine.Action) {
        switch action {
        case .ask(let number):
            questions += 1
            pending.append(.answer(number))
        case .show(let number, let notification, let former):
            shown.append(now)
            // The server shows it, whatever becomes of its answer.
            let id = standing[former] == nil ? lastID + 1 : former
            lastID = max(lastID, id)
            standing[id] = notification
            pending.append(.shown(number, as: id))
        case .withdraw(let id):
            withdrawn.append(id)
            guard standing.removeValue(forKey: id) != nil else { return }
            pending.append(.closed(id))
        case .continue(let offer, let token):
            continued.append((offer, token))
            if finishes { change { $0.done(offer, now: $1) } }
        case .decline(let offer): declined.append(offer)
        case .mute(let app): muted.append(app.text)
        case .open(let path, let shows, let token): opened.append((path, shows, token))
        }
    }

    private mutating func tell(_ news: News, refuse: Bool) {
        switch news {
        case .answer(let number):
            let capabilities = capabilities.map { NotificationCapabilities($0) }
            change { $0.answered(number, refuse ? nil : capabilities, now: $1) }
        case .shown(let number, let id):
            if refuse { standing[id] = nil }
            change { $0.shown(number, as: refuse ? nil : id, now: $1) }
        case .closed(let id): change { $0.closed(id, reason: 3, now: $1) }
        }
    }
}
