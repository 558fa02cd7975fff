import HandoffControl
import HandoffDaemon
import HandoffModel
import HandoffTestSupport
import LoopIO

extension Sample {
    /// An offer as notifications speak of it.
    static func notificationOffer(
        opens: ControlOpens = ControlOpens(kind: .app, name: "Editor"), title: String? = "Draft",
        name: String = "Telephone", kind: DeviceKind = .phone, device: UInt8 = 1, activity: UInt8 = 1
    ) -> NotificationOffer? {
        guard let type = ActivityType("com.example.editing") else { return nil }
        return NotificationOffer(
            ControlActivity(
                id: activityID(activity), type: type, title: title, team: nil, device: Sample.device(device),
                deviceName: name, deviceKind: kind, streams: false, hasWebpageURL: false, age: 0, opens: opens))
    }
}

/// A machine with a notification server that is played: does at once what the machine wants, or when it is told to.
struct PlayedScreen {
    var machine = NotificationMachine(isOn: true)
    var now = LoopInstant(nanoseconds: 1_000_000_000_000)
    /// What stands on the screen, by its id.
    private(set) var standing: [UInt32: DesktopNotification] = [:]
    /// When something was shown.
    private(set) var shown: [LoopInstant] = []
    private(set) var withdrawn: [UInt32] = []
    /// What was continued, and with which token.
    private(set) var continued: [(offer: NotificationOffer, token: ActivationToken?)] = []
    /// Whether the server answers by itself.
    var answers = true
    /// What the server would answer when it is asked; nil: there is none.
    var capabilities: [String]? = ["body", "body-markup", "actions"]
    private(set) var questions = 0
    private var pending: [NotificationMachine.Action] = []
    private var lastID: UInt32 = 0

    /// A screen in front of which somebody sits.
    init(isQuiet: Bool = false) {
        if !isQuiet { change { $0.setQuiet(false, now: $1) } }
    }

    /// The titles of what stands on the screen.
    var titles: [String] { standing.values.map(\.summary).sorted() }

    /// The one id on the screen.
    var id: UInt32 { standing.keys.first ?? 0 }

    mutating func change(_ body: (inout NotificationMachine, LoopInstant) -> [NotificationMachine.Action]) {
        let actions = body(&machine, now)
        for action in actions { perform(action) }
    }

    mutating func take(_ offers: [NotificationOffer?]) {
        change { $0.take(offers.compactMap(\.self), now: $1) }
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

    /// Answers what waits for an answer, oldest first.
    mutating func answer(_ count: Int = .max, refuse: Bool = false) {
        for action in pending.prefix(count) {
            pending.removeFirst()
            finish(action, refuse: refuse)
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
        change { $0.serverAppeared(now: $1) }
    }

    private mutating func perform(_ action: NotificationMachine.Action) {
        switch action {
        case .ask: questions += 1
        case .show(_, let notification, let former):
            shown.append(now)
            // The server shows it, whatever becomes of its answer.
            let id = standing[former] == nil ? lastID + 1 : former
            lastID = max(lastID, id)
            standing[id] = notification
        case .withdraw(let id):
            withdrawn.append(id)
            standing[id] = nil
            return
        case .continue(let offer, let token):
            continued.append((offer, token))
            return
        }
        guard answers else { return pending.append(action) }
        finish(action, refuse: false)
    }

    private mutating func finish(_ action: NotificationMachine.Action, refuse: Bool) {
        switch action {
        case .ask(let number):
            let capabilities = capabilities.map { NotificationCapabilities($0) }
            change { $0.answered(number, refuse ? nil : capabilities, now: $1) }
        case .show(let number, let notification, _):
            let id = standing.first { $0.value == notification }?.key
            if refuse, let id { standing[id] = nil }
            change { $0.shown(number, as: refuse ? nil : id ?? 4_000_000, now: $1) }
        case .withdraw, .continue: break
        }
    }
}
