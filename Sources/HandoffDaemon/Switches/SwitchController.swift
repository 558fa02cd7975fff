import HandoffControl
import HandoffModel
import HandoffState
import LoopIO

/// Determines what may be advertised and received: the user's switches, within the limits of the
/// configuration, the administrator's policy, the session and the network. Lives on the daemon's
/// loop.
final class SwitchController {
    private let loop: EventLoop
    private let worker: Worker
    private let log: Logger
    private let folder: StateFolder
    private let accountStore: AccountStore
    private let wallClock: any WallClock
    /// Weak because a pending write can outlive the core.
    private weak var core: DaemonCore?
    /// The stored switches, which are in force.
    private(set) var switches: Switches
    /// The switches in force once all requested changes are stored.
    private var wanted: Switches
    private(set) var policy: Policy
    /// Whether `handoffd.conf` turns advertising off.
    private var isConfiguredOff: Bool
    /// The reason why the session forbids advertising; nil if it does not.
    private var sessionRestriction: String?
    /// The reason why the network forbids both directions; nil if it does not.
    private var networkReason: String?
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

    // MARK: - Permissions

    /// Returns whether anything may be advertised or received.
    func allows(_ direction: SwitchDirection) -> Bool {
        !isSwitchedOff(direction) && networkReason == nil && !(direction == .advertise && sessionRestriction != nil)
    }

    /// Returns whether the user, the configuration or the policy has switched a direction off, and
    /// not only the session or the network.
    func isSwitchedOff(_ direction: SwitchDirection) -> Bool {
        switches.isOff(direction) || policy.forbids(direction) != nil || (direction == .advertise && isConfiguredOff)
    }

    /// Returns whether a direction is allowed for a device.
    func allows(_ direction: SwitchDirection, with device: DeviceID) -> Bool {
        allows(direction) && !switches.isOff(direction, for: device) && policy.forbids(device) == nil
    }

    /// Returns whether an activity may be sent to a device, or received from it.
    func allows(_ direction: SwitchDirection, of type: ActivityType, with device: DeviceID) -> Bool {
        allows(direction, with: device) && policy.forbids(type) == nil
    }

    /// The devices that receive no offers while others do.
    var unadvertised: Set<DeviceID> {
        switches.devices(without: .advertise).union(policy.forbiddenDevices)
    }

    // MARK: - Showing

    /// The state of both directions, with the reasons.
    var shown: ControlSwitches {
        ControlSwitches(advertising: allows(.advertise), receiving: allows(.receive), holds: restrictions)
    }

    /// Returns the restriction of an activity from a device; nil if it is allowed.
    func restriction(_ direction: SwitchDirection, of type: ActivityType, with device: DeviceID) -> ControlRestriction?
    {
        if let restriction = restrictions.first(where: { $0.direction == direction && ($0.device ?? device) == device })
        {
            return restriction
        }
        return policy.forbids(type).map { place in
            ControlRestriction(
                direction: direction, author: .policy,
                message: "activities of type \(type.text) are forbidden by \(place)")
        }
    }

    /// Returns the reason why a local activity may not be offered, to any device or to its only
    /// recipient; nil if it may be.
    func advertisingRestriction(of type: ActivityType, to recipient: DeviceID?) -> String? {
        if let place = policy.forbids(type) { return "its type is forbidden by \(place)" }
        return restrictions.first { $0.direction == .advertise && ($0.device == nil || $0.device == recipient) }?
            .message
    }

    /// All restrictions, the strongest first.
    private var restrictions: [ControlRestriction] {
        let directions = SwitchDirection.allCases
        var restrictions = directions.compactMap { direction in
            policy.forbids(direction).map { place in
                ControlRestriction(
                    direction: direction, author: .policy,
                    message: "\(Self.words(direction)) is forbidden by \(place)")
            }
        }
        if isConfiguredOff {
            restrictions.append(
                ControlRestriction(
                    direction: .advertise, author: .configuration,
                    message: "advertising is off in the configuration (advertise = off)"))
        }
        if let networkReason {
            restrictions += directions.map {
                ControlRestriction(direction: $0, author: .network, message: networkReason)
            }
        }
        if let sessionRestriction {
            restrictions.append(
                ControlRestriction(direction: .advertise, author: .session, message: sessionRestriction))
        }
        restrictions += switches.entries.map { place, off in
            let device = place.device.map { ": \(accountStore.snapshot.label(of: $0))" } ?? ""
            return ControlRestriction(
                direction: place.direction, author: .user, device: place.device, until: off.until.map { Double($0) },
                message: "\(Self.words(place.direction)) is switched off\(device)")
        }
        for device in policy.forbiddenDevices.sorted() {
            guard let place = policy.forbids(device) else { continue }
            restrictions += directions.map { direction in
                ControlRestriction(
                    direction: direction, author: .policy, device: device,
                    message: "\(accountStore.snapshot.label(of: device)) is forbidden by \(place)")
            }
        }
        return restrictions
    }

    private static func words(_ direction: SwitchDirection) -> String {
        switch direction {
        case .advertise: "advertising"
        case .receive: "receiving"
        }
    }

    // MARK: - Changing

    /// Starts the timer of temporary switches.
    func start() {
        review()
    }

    /// Applies a request once it is stored.
    ///
    /// - Parameters:
    /// - live: the members. The switches of other devices are dropped.
    /// - completion: receives the state in force from then on, or an error if nothing was changed.
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
                // Later requests contain this one, and can still be stored.
                if wanted == next { wanted = switches }
                completion(.failure(error))
            }
        }
    }

    /// Applies a reloaded policy and configuration.
    func take(_ policy: Policy, isConfiguredOff: Bool) {
        guard policy != self.policy || isConfiguredOff != self.isConfiguredOff else { return }
        self.policy = policy
        self.isConfiguredOff = isConfiguredOff
        core?.switchesChanged()
    }

    /// Applies the reason why the session forbids advertising; nil if it does not.
    func take(sessionRestriction: String?) {
        guard sessionRestriction != self.sessionRestriction else { return }
        self.sessionRestriction = sessionRestriction
        core?.switchesChanged()
    }

    /// Applies the reason why the network forbids both directions; nil if it does not.
    func take(networkReason: String?) {
        guard networkReason != self.networkReason else { return }
        self.networkReason = networkReason
        core?.switchesChanged()
    }

    /// The restriction by the network; nil if there is none.
    var networkRestriction: ControlRestriction? {
        networkReason.map { ControlRestriction(direction: .advertise, author: .network, message: $0) }
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

    /// Ends expired switches, and waits for the next end.
    private func review() {
        let moment = self.moment
        let wasOver = switches.review(at: moment)
        _ = wanted.review(at: moment)
        if wasOver {
            let next = switches
            worker.run({ [folder] in try folder.store(switches: next) }, on: loop) { [weak self] result in
                guard case .failure(let error) = result else { return }
                // The end takes effect even so, because the stored switches contain their end.
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
