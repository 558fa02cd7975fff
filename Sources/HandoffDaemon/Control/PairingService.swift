import HandoffAccount
import HandoffControl
import HandoffDiscovery
import HandoffJSON
import HandoffModel
import HandoffState
import LoopIO

/// The part of the control interface for pairing: opening a window, answering for it, and joining.
/// Lives on the daemon's loop.
///
/// One window and one attempt to join exist at a time. Each belongs to the call that started it,
/// and ends with its connection.
final class PairingService {
    private let loop: EventLoop
    private let log: Logger
    /// The name of this device in the account that it joins.
    private let name: String
    private let accountStore: AccountStore
    private let switches: SwitchController
    private let discovery: PairingDiscovery
    private let attempts: PairingAttempts
    private let wallClock: any WallClock
    /// The configuration in force.
    private let configuration: () -> Configuration
    /// The open window, and the call that receives its events.
    private var window: (inviter: Inviter, call: ControlCall)?
    /// The attempt to join, and the call that receives its events.
    private var attempt: (joiner: Joiner, call: ControlCall)?

    init(
        loop: EventLoop, log: Logger, name: String, accountStore: AccountStore, switches: SwitchController,
        discovery: PairingDiscovery, attempts: PairingAttempts, wallClock: any WallClock,
        configuration: @escaping () -> Configuration
    ) {
        self.loop = loop
        self.log = log
        self.name = name
        self.accountStore = accountStore
        self.switches = switches
        self.discovery = discovery
        self.attempts = attempts
        self.wallClock = wallClock
        self.configuration = configuration
    }

    /// Opens a window.
    func pair(_ call: ControlCall) throws {
        guard call.wantsMore else { throw CallError.control(.expectedMore) }
        let isAutomatic = try Fields(call.parameters).isSet("automatic")
        if let restriction = switches.networkRestriction { throw CallError.switchedOff(restriction) }
        guard window == nil else { throw PairingFailure.windowOpen.callError }
        try requireKey()
        let inviter = try makeInviter(isAutomatic: isAutomatic)
        window = (inviter, call)
        log.notice("A pairing window opens", ["port": "\(inviter.port)", "automatic": "\(isAutomatic)"])
        call.onClosed = { [weak inviter] in inviter?.cancel(.cancelledHere) }
        inviter.service = self
        inviter.open()
    }

    /// Reports progress of the window to its caller.
    func inviter(_ inviter: Inviter, tells event: PairEvent) {
        window?.call.replyContinuing(event.json)
    }

    /// Called once, when the window has ended.
    func inviter(_ inviter: Inviter, ended result: Result<PairingDevice, PairingFailure>) {
        let call = window?.call
        window = nil
        report(result, "A device was admitted", "A pairing window closed")
        switch result {
        case .success(let device): call?.reply(PairEvent.joined(device).json)
        case .failure(let failure): call?.fail(failure.callError)
        }
    }

    /// Passes the user's answer to the window.
    func answer(_ call: ControlCall) throws {
        let fields = Fields(call.parameters)
        let device: DeviceID = try fields.value("device")
        let accept: Bool = try fields.value("accept")
        guard let window, window.inviter.answer(device, accept: accept) else {
            throw CallError(
                name: ControlErrorName.noSuchDevice.rawValue,
                parameters: [
                    "identifier": .string(device.hex),
                    "message": .string("no pairing window waits for an answer about device \(device.short)"),
                ])
        }
        call.reply([:])
    }

    /// Joins an account.
    func join(_ call: ControlCall) throws {
        guard call.wantsMore else { throw CallError.control(.expectedMore) }
        let request = try JoinRequest(json: call.parameters)
        try accountStore.requireNoAccount(accountStore.state)
        if let restriction = switches.networkRestriction { throw CallError.switchedOff(restriction) }
        guard attempt == nil else { throw PairingFailure.joining.callError }
        let joiner = try makeJoiner(request)
        attempt = (joiner, call)
        log.notice("Joining an account")
        call.onClosed = { [weak joiner] in joiner?.cancel(.cancelledHere) }
        joiner.service = self
        joiner.start()
    }

    /// Reports progress of the attempt to its caller.
    func joiner(_ joiner: Joiner, tells event: JoinEvent) {
        attempt?.call.replyContinuing(event.json)
    }

    /// Called once, when the attempt has ended.
    func joiner(_ joiner: Joiner, ended result: Result<Joiner.Joined, PairingFailure>) {
        let call = attempt?.call
        attempt = nil
        report(result.map(\.inviter), "This device has joined an account", "This device could not join an account")
        switch result {
        case .success(let joined): call?.reply(JoinEvent.joined(joined.account, by: joined.inviter).json)
        case .failure(let failure): call?.fail(failure.callError)
        }
    }

    /// Handles a change of the account, or its loss.
    func accountChanged() {
        if accountStore.state?.view.isLive(accountStore.deviceID) ?? false {
            attempt?.joiner.cancel(.alreadyInAccount)
        } else {
            window?.inviter.end(.noLongerMember)
        }
    }

    /// Ends the window and the attempt.
    /// - Parameter done: called once the announcement is withdrawn: on discovery's thread, or
    ///   immediately if there is none.
    func stop(_ done: @escaping @Sendable () -> Void) {
        attempt?.joiner.cancel(.stopping)
        guard let window else { return done() }
        window.inviter.end(.stopping, withdrawn: done)
    }

    private func report(_ result: Result<PairingDevice, PairingFailure>, _ success: String, _ failure: String) {
        switch result {
        case .success(let device): log.notice(success, ["device": device.id.short])
        case .failure(let error): log.notice(failure, ["reason": error.reason.rawValue])
        }
    }

    // MARK: - Creating windows and attempts

    /// The key of a new epoch may be in transit. `Inviter` waits for it when a device is admitted.
    private func requireKey() throws {
        guard try accountStore.member(accountStore.state).held != nil else { throw AccountError.noCurrentKey }
    }

    /// Returns a window that is not open yet.
    private func makeInviter(isAutomatic: Bool) throws -> Inviter {
        // A configuration without a fixed port for the daemon applies to the window too.
        let ports = configuration().port == .any ? nil : BoundPort.defaultPorts
        do {
            return try Inviter(
                isAutomatic: isAutomatic, ports: ports, addresses: pairingAddresses,
                pairingDiscovery: discovery, accountStore: accountStore, attempts: attempts, loop: loop, log: log)
        } catch {
            throw PairingFailure.cannotOpen("\(error)").callError
        }
    }

    /// Returns an attempt to join that has not started.
    private func makeJoiner(_ request: JoinRequest) throws -> Joiner {
        do {
            return try Joiner(
                request, name: name, addresses: pairingAddresses, pairingDiscovery: discovery,
                accountStore: accountStore, wallClock: wallClock, loop: loop, log: log)
        } catch let failure as PairingFailure {
            throw failure.callError
        }
    }

    private var pairingAddresses: PairingAddresses {
        let configuration = configuration()
        return PairingAddresses(only: configuration.address, interfaces: configuration.interfaces)
    }
}
