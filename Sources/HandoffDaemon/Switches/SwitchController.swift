import HandoffConfiguration
import HandoffControl
import HandoffLog
import HandoffModel
import HandoffState
import LoopIO
import Timing

/// What may be advertised and received now: the user's switches, below the configuration, the administrator's policy and
/// the session. Lives on the daemon's loop.
final class SwitchController {
    private let loop: EventLoop
    private let worker: Worker
    private let log: Logger
    private let folder: StateFolder
    private let accountStore: AccountStore
    private let wallClock: any WallClock
    /// Weak: what is being stored may outlive the core.
    private weak var core: DaemonCore?
    /// What holds now, and is stored.
    private(set) var switches: Switches
    /// What will hold once all that was asked for is stored.
    private var wanted: Switches
    private(set) var policy: Policy
    /// Whether `handoffd.conf` says that nothing is advertised.
    private var isConfiguredOff: Bool
    /// Why the session lets nothing be advertised; nil while it does.
    private var sessionHold: String?
    /// Why the network lets nothing pass; nil while it does.
    private var networkHold: String?
    private var timer: LoopTimer?

    init(
        log: Logger, switches: Switches, policy: Policy, isConfiguredOff: Bool, core: DaemonCore
    ) {
        self.core = core
        loop = core.loop
        worker = core.worker
        self.log = log
        self.switches = switches
        wanted = switches
        self.policy = policy
        self.isConfiguredOff = isConfiguredOff
        folder = core.stored.folder
        accountStore = core.accountStore
        wallClock = core.wallClock
    }

    // MARK: - What is allowed

    /// Whether anything may be advertised at all, or taken over.
    func allows(_ direction: SwitchDirection) -> Bool {
        !switches.isOff(direction) && policy.forbids(direction) == nil && networkHold == nil
            && !(direction == .advertise && (isConfiguredOff || sessionHold != nil))
    }

    /// Whether a direction is on for a device.
    func allows(_ direction: SwitchDirection, with device: DeviceID) -> Bool {
        allows(direction) && !switches.isOff(direction, for: device) && policy.forbids(device) == nil
    }

    /// Whether an activity may pass to a device, or from one.
    func allows(_ direction: SwitchDirection, of type: ActivityType, with device: DeviceID) -> Bool {
        allows(direction, with: device) && policy.forbids(type) == nil
    }

    /// The devices that are told of no activity while the others are.
    var unadvertised: Set<DeviceID> {
        switches.devices(without: .advertise).union(policy.forbiddenDevices)
    }

    // MARK: - Showing

    /// What is on, and why not.
    var shown: ControlSwitches {
        ControlSwitches(advertising: allows(.advertise), receiving: allows(.receive), holds: holds)
    }

    /// Why something from a device cannot be continued here; nil when it can.
    func hold(_ direction: SwitchDirection, of type: ActivityType, with device: DeviceID) -> ControlRestriction? {
        if let hold = holds.first(where: { $0.direction == direction && ($0.device ?? device) == device }) {
            return hold
        }
        return policy.forbids(type).map { place in
            ControlRestriction(
                direction: direction, author: .policy,
                message: "activities of type \(type.text) are forbidden by \(place)")
        }
    }

    /// Why an activity of this device is offered to no device, or not to the only one that it is for; nil when it may be.
    func advertisingRestriction(of type: ActivityType, to recipient: DeviceID?) -> String? {
        if let place = policy.forbids(type) { return "its type is forbidden by \(place)" }
        return holds.first { $0.direction == .advertise && ($0.device == nil || $0.device == recipient) }?.message
    }

    /// All reasons, the strongest first.
    private var holds: [ControlRestriction] {
        let directions = SwitchDirection.allCases
        var holds = directions.compactMap { direction in
            policy.forbids(direction).map { place in
                ControlRestriction(
                    direction: direction, author: .policy,
                    message: "\(Self.words(direction)) is forbidden by \(place)")
            }
        }
        if isConfiguredOff {
            holds.append(
                ControlRestriction(
                    direction: .advertise, author: .configuration,
                    message: "advertising is off in the configuration (advertise = off)"))
        }
        if let networkHold {
            holds += directions.map { ControlRestriction(direction: $0, author: .network, message: networkHold) }
        }
        if let sessionHold {
            holds.append(ControlRestriction(direction: .advertise, author: .session, message: sessionHold))
        }
        holds += switches.entries.map { place, off in
            let device = place.device.map { ": \(accountStore.snapshot.label(of: $0))" } ?? ""
            return ControlRestriction(
                direction: place.direction, author: .user, device: place.device, until: off.until.map { Double($0) },
                message: "\(Self.words(place.direction)) is switched off\(device)")
        }
        for device in policy.forbiddenDevices.sorted() {
            guard let place = policy.forbids(device) else { continue }
            holds += directions.map { direction in
                ControlRestriction(
                    direction: direction, author: .policy, device: device,
                    message: "\(accountStore.snapshot.label(of: device)) is forbidden by \(place)")
            }
        }
        return holds
    }

    private static func words(_ direction: SwitchDirection) -> String {
        switch direction {
        case .advertise: "advertising"
        case .receive: "receiving"
        }
    }

    // MARK: - Changing

    /// Begins to count time.
    func start() {
        review()
    }

    /// Switches on or off, once that is stored.
    ///
    /// - Parameters:
    ///   - live: the members; of others nothing is kept.
    ///   - completion: gets what holds from then on, or an error when nothing was changed.
    func set(
        _ request: SetSwitchesRequest, device: DeviceID?, live: Set<DeviceID>,
        completion: @escaping (Result<ControlSwitches, any Error>) -> Void
    ) {
        let moment = self.moment
        wanted.retain(live)
        for (direction, isOn) in [(SwitchDirection.advertise, request.advertise), (.receive, request.receive)] {
            let place = Switches.Place(direction, device)
            switch isOn {
            case nil: break
            case true?: wanted.turnOn(place)
            case false?: wanted.turnOff(place, seconds: request.seconds, at: moment)
            }
        }
        let next = wanted
        worker.run({ [folder] in try folder.store(switches: next) }, on: loop) { [weak self] result in
            guard let self else { return }
            switch result {
            case .success:
                take(next)
                log.notice(
                    "Switched", ["advertise": Self.word(allows(.advertise)), "receive": Self.word(allows(.receive))])
                completion(.success(shown))
            case .failure(let error):
                // What was asked for after this is built on it, and may yet be stored.
                if wanted == next { wanted = switches }
                completion(.failure(error))
            }
        }
    }

    /// Takes a policy and a configuration that were read again.
    func take(_ policy: Policy, isConfiguredOff: Bool) {
        guard policy != self.policy || isConfiguredOff != self.isConfiguredOff else { return }
        self.policy = policy
        self.isConfiguredOff = isConfiguredOff
        core?.switchesChanged()
    }

    /// Takes why the session lets nothing be advertised; nil when it does.
    func take(sessionHold: String?) {
        guard sessionHold != self.sessionHold else { return }
        self.sessionHold = sessionHold
        core?.switchesChanged()
    }

    /// Takes why the network lets nothing pass; nil when it does.
    func take(networkHold: String?) {
        guard networkHold != self.networkHold else { return }
        self.networkHold = networkHold
        core?.switchesChanged()
    }

    /// Why nothing passes in this network; nil where it does.
    var networkRestriction: ControlRestriction? {
        networkHold.map { ControlRestriction(direction: .advertise, author: .network, message: $0) }
    }

    private static func word(_ isOn: Bool) -> String { isOn ? "on" : "off" }

    private var moment: SwitchMoment {
        SwitchMoment(unixSeconds: wallClock.unixSeconds, instant: loop.now)
    }

    private func take(_ next: Switches) {
        guard next != switches else { return }
        switches = next
        review()
        core?.switchesChanged()
    }

    /// Switches on what is over, and waits for what ends next.
    private func review() {
        let moment = self.moment
        let wasOver = switches.review(at: moment)
        _ = wanted.review(at: moment)
        if wasOver {
            let next = switches
            worker.run({ [folder] in try folder.store(switches: next) }, on: loop) { [weak self] result in
                guard case .failure(let error) = result else { return }
                // It is over all the same: what is stored says until when.
                self?.log.error("Cannot store the switches", ["error": "\(error)"])
            }
            log.notice(
                "Switched on again",
                ["advertise": Self.word(allows(.advertise)), "receive": Self.word(allows(.receive))])
        }
        arm(switches.wait(at: moment))
        if wasOver { core?.switchesChanged() }
    }

    private func arm(_ wait: Duration?) {
        timer = nil
        guard let wait else { return }
        timer = loop.timer(after: wait, accuracy: .milliseconds(100)) { [weak self] in self?.review() }
    }
}
