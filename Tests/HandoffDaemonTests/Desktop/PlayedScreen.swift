import HandoffControl
import HandoffDaemon
import HandoffHandlers
import HandoffModel
import HandoffTestSupport
import LoopIO

extension Sample {
    /// The time at which notifications of kept activities are prepared, in seconds since 1970.
    static let keptNow = 1_700_000_000.0

    /// An offer for notifications.
    static func notificationOffer(
        opens: ControlOpens = ControlOpens(kind: .app, name: "Editor"), title: String? = "Draft",
        name: String = "Telephone", kind: DeviceKind = .phone, device: UInt8 = 1, activity: UInt8 = 1,
        sent: Bool = false, type: String = "com.example.editing", missing: [ControlMissing] = [],
        kept: ControlKept? = nil, streams: Bool = false
    ) -> NotificationOffer? {
        guard let type = ActivityType(type) else { return nil }
        return NotificationOffer(
            OfferedActivity(
                id: activityID(activity), type: type, title: title, team: nil, device: Sample.device(device),
                deviceName: name, deviceKind: kind, streams: streams, hasWebpageURL: false, age: 0, sent: sent,
                opens: opens, missing: missing, kept: kept), now: keptNow)
    }
}

extension DesktopNotification {
    /// The texts in English.
    var summary: String { texts().summary }
    var body: String { texts().body }
}

extension DesktopNotification.Choice {
    /// The label in English.
    var english: String { label.text() }
}

/// A machine with a simulated notification server. Actions take effect immediately. Replies are
/// sent immediately or when the test says so, in the order of the requests.
struct PlayedScreen {
    /// A pending message of the server.
    private enum Update {
        case answer(UInt64)
        case shown(UInt64, as: UInt32)
        case closed(UInt32)
    }

    var machine = NotificationMachine(isOn: true)
    var now = MonotonicInstant(nanoseconds: 1_000_000_000_000)
    /// The notifications on the screen, by id.
    private(set) var displayed: [UInt32: DesktopNotification] = [:]
    /// The times at which notifications were shown.
    private(set) var shown: [MonotonicInstant] = []
    private(set) var withdrawn: [UInt32] = []
    /// The continued offers and their tokens.
    private(set) var continued: [(offer: NotificationOffer, token: ActivationToken?)] = []
    /// True if the server replies by itself.
    var answers = true {
        didSet {
            if answers { answer() }
        }
    }
    /// The items that were declined.
    private(set) var declined: [NotificationOffer] = []
    /// The items for which the user chooses a folder.
    private(set) var savedAs: [NotificationOffer] = []
    /// The muted apps.
    private(set) var muted: [String] = []
    /// The opened or shown files, with their tokens.
    private(set) var opened: [(path: String, shows: Bool, token: ActivationToken?)] = []
    /// True if continuations succeed immediately.
    var finishes = true
    /// The server's reply to a query; nil if there is no server.
    var capabilities: [String]? = ["body", "body-markup", "actions"]
    private(set) var questions = 0
    private var pending: [Update] = []
    private var lastID: UInt32 = 0

    /// Creates a screen, with the user present by default.
    init(isQuiet: Bool = false) {
        if !isQuiet { change { $0.setQuiet(false, now: $1) } }
    }

    /// The titles of the notifications on the screen.
    var titles: [String] { displayed.values.map(\.summary).sorted() }

    /// The id of the only notification on the screen.
    var id: UInt32 { displayed.keys.first ?? 0 }

    mutating func change(_ body: (inout NotificationMachine, MonotonicInstant) -> [NotificationMachine.Action]) {
        let actions = body(&machine, now)
        for action in actions { perform(action) }
        while answers, !pending.isEmpty { deliver(pending.removeFirst(), refuse: false) }
    }

    mutating func take(_ offers: [NotificationOffer?], of devices: Set<DeviceID>? = nil) {
        change { $0.take(offers.compactMap(\.self), of: devices, now: $1) }
    }

    /// Advances the time, and calls the machine at its deadlines.
    mutating func pass(_ time: Duration) {
        let end = now + time
        while let deadline = machine.deadline, deadline <= end {
            now = max(now, deadline)
            change { $0.deadlinePassed(now: $1) }
        }
        now = end
    }

    /// Delivers pending messages, oldest first.
    mutating func answer(_ count: Int = .max, refuse: Bool = false) {
        for _ in 0..<min(count, pending.count) where !pending.isEmpty {
            deliver(pending.removeFirst(), refuse: refuse)
        }
    }

    /// A notification leaves the screen.
    mutating func close(_ id: UInt32, _ reason: UInt32) {
        displayed[id] = nil
        change { $0.closed(id, reason: reason, now: $1) }
    }

    /// The server or the bus has ended.
    mutating func lose() {
        displayed = [:]
        pending = []
        machine.serverGone(now: now)
    }

    /// A server appears, with nothing on its screen.
    mutating func appear() {
        displayed = [:]
        // Replies of the old server are dropped, but queries go to the owner of the name.
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
            // The server shows it, even if its reply is lost.
            let id = displayed[former] == nil ? lastID + 1 : former
            lastID = max(lastID, id)
            displayed[id] = notification
            pending.append(.shown(number, as: id))
        case .withdraw(let id):
            withdrawn.append(id)
            guard displayed.removeValue(forKey: id) != nil else { return }
            pending.append(.closed(id))
        case .continue(let offer, let token):
            continued.append((offer, token))
            if finishes { change { $0.done(offer, now: $1) } }
        case .decline(let offer): declined.append(offer)
        case .saveAs(let offers, _): savedAs += offers
        case .mute(let app): muted.append(app.text)
        case .open(let path, let shows, let token): opened.append((path, shows, token))
        }
    }

    private mutating func deliver(_ update: Update, refuse: Bool) {
        switch update {
        case .answer(let number):
            let capabilities = capabilities.map { NotificationCapabilities($0) }
            change { $0.answered(number, refuse ? nil : capabilities, now: $1) }
        case .shown(let number, let id):
            if refuse { displayed[id] = nil }
            change { $0.shown(number, as: refuse ? nil : id, now: $1) }
        case .closed(let id): change { $0.closed(id, reason: 3, now: $1) }
        }
    }
}
