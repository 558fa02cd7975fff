import HandoffClient
import HandoffControl
import HandoffJSON
import HandoffModel
package import LoopIO

/// `device remove`: permanently removes a device from the account.
package struct DeviceRemoveCommand: Command {
    package static let specification = CommandSpecification(
        words: ["device", "remove"], operands: [.one(.otherDevice)],
        summary: "permanently remove a device from the account and create a new account key",
        options: [
            OptionSpecification("--drop", .values(.otherDevice), "also remove this device, which DEVICE admitted"),
            OptionSpecification("--yes", .flag, "do not ask for confirmation"),
            OptionSpecification("--no-wait", .flag, "do not wait for the other devices to confirm the removal"),
            OptionSpecification(
                "--timeout", .value("SECONDS"), "wait this long for the other devices to confirm (default: 10)"),
        ],
        details: """
            DEVICE is a name or an id prefix. The command first asks for confirmation, with the id, and lists the
            devices that the removed device admitted. Those stay in the account unless you also remove them with
            --drop. It then waits for the other devices to receive the removal, and lists those that have not. Until
            another device learns of the removal, the removed device can still read that device's offers. Offline
            devices learn of the removal when they are online again. The exit status is 0 even if some devices have not
            confirmed yet. A device cannot remove itself: see handoffctl help account leave.

            With --json, first removed, then confirmed for each device that receives the removal:

              removed    device, confirmed, waiting (lists of ids): the removal is stored
              confirmed  device, confirmed, waiting (lists of ids): this device has received it
            """,
        example: "handoffctl device remove laptop")

    private let request: RemovalRequest

    package init(validating arguments: ParsedArguments) throws(UsageError) {
        let command = Self.specification.name
        var timeout = Duration.seconds(10)
        if arguments.has("--no-wait") {
            if arguments.value("--timeout") != nil { throw .conflict("--no-wait", "--timeout", command: command) }
            timeout = .zero
        } else if let text = arguments.value("--timeout") {
            timeout = .seconds(try ArgumentValue.seconds(text, option: "--timeout", command: command))
        }
        var dropped: [String] = []
        for text in arguments.all("--drop") { dropped.append(try ArgumentValue.text(text, option: "--drop")) }
        request = RemovalRequest(
            device: try ArgumentValue.text(arguments.operands.first ?? "", option: "DEVICE"), dropped: dropped,
            isConfirmed: arguments.has("--yes"), timeout: timeout)
    }

    package func run(in context: CommandContext) {
        guard request.isConfirmed || context.keyboard.isTerminal else {
            return context.fail(.confirmationImpossible("whether to remove the device"))
        }
        let session = RemovalSession(request, context)
        context.keep(session)
        session.start()
    }
}

/// Removes a device: finds it, asks for confirmation, removes it, and follows the confirmations of
/// the other devices for a while.
final class RemovalSession {
    private let request: RemovalRequest
    private let context: CommandContext
    /// The devices before the removal. Removed devices have no name in the account afterwards.
    private var texts = DeviceText([])
    private var name = ""
    /// This device, which has the new key immediately.
    private var own: DeviceID?
    /// The last event; nil until the device is removed.
    private var state: RemovalEvent?

    init(_ request: RemovalRequest, _ context: CommandContext) {
        self.request = request
        self.context = context
    }

    /// Finds the device, and asks for confirmation unless it was already given.
    func start() {
        context.withDevices { [unowned self] client, devices throws(CommandFailure) in
            texts = DeviceText(devices)
            own = devices.first { $0.isSelf }?.id
            let device = try find(request.device, devices)
            var drop: [DeviceID] = []
            for text in request.dropped {
                let other = try find(text, devices).id
                if other != device.id, !drop.contains(other) { drop.append(other) }
            }
            name = VisibleText.escape(device.name.isEmpty ? device.id.short : device.name)
            if request.isConfirmed { return remove(device.id, drop, client) }
            context.console.writeDiagnostics(warning(device.id, drop, devices))
            let whole = texts.labels([device.id] + drop)
            context.confirm("Permanently remove \(whole)?") { [unowned self, unowned client] yes in
                if yes { remove(device.id, drop, client) } else { context.fail(.notConfirmed()) }
            }
        }
    }

    private func find(_ text: String, _ devices: [ControlDevice]) throws(CommandFailure) -> ControlDevice {
        let device = try DeviceChoice.find(text, in: devices)
        if device.isSelf { throw .removesItself() }
        return device
    }

    /// Describes which devices the removed one admitted, and whether they stay.
    private func warning(_ device: DeviceID, _ drop: [DeviceID], _ devices: [ControlDevice]) -> String {
        let admitted = Admissions(devices).admitted(by: device)
        let staying = admitted.filter { !drop.contains($0) }
        var text = ""
        if !admitted.isEmpty { text += "\(texts.label(device)) admitted: \(texts.labels(admitted))\n" }
        if !staying.isEmpty { text += "These stay unless you add --drop: \(texts.labels(staying))\n" }
        return text
    }

    private func remove(_ device: DeviceID, _ drop: [DeviceID], _ client: ControlClient) {
        context.onInterrupt { [unowned self] in state == nil ? context.finish(.interrupted) : conclude() }
        client.removeDevice(device, drop: drop) { [unowned self] result, isLast in
            switch result {
            case .success(let event):
                received(event)
                if isLast || event.waiting.isEmpty || request.timeout == .zero { conclude() }
            case .failure(let error):
                // Once reported, the removal itself remains valid.
                if state != nil { reportPending() }
                context.fail(CommandFailure(error))
            }
        }
    }

    private func received(_ event: RemovalEvent) {
        let before = state
        state = event
        if before == nil, request.timeout > .zero {
            context.after(request.timeout) { [unowned self] in conclude() }
        }
        if context.json { return context.console.line(Describe.event(event.kind.text, event.json)) }
        if before == nil { show("removed", texts.label(event.device)) }
        let newlyConfirmed = event.confirmed.filter { !(before?.confirmed.contains($0) ?? false) }
        for device in newlyConfirmed where device != own { show("confirmed", texts.label(device)) }
    }

    private func conclude() {
        guard context.status == nil else { return }
        reportPending()
        context.finish(.done)
    }

    private func reportPending() {
        guard let waiting = state?.waiting, !waiting.isEmpty else { return }
        if !context.json { show("pending", texts.labels(waiting)) }
        context.note("until pending devices confirm, \(name) can still read their offers")
    }

    private func show(_ event: String, _ text: String) {
        context.console.line("\(Describe.word(event, width: 9))  \(text)")
    }
}

/// The validated arguments of `device remove`.
struct RemovalRequest {
    /// The device, as typed.
    let device: String
    /// The devices to remove with it, as typed.
    let dropped: [String]
    /// True if the user has already confirmed.
    let isConfirmed: Bool
    /// The time to wait for confirmations; zero to not wait.
    let timeout: Duration
}

/// Which devices admitted which others to the account.
struct Admissions {
    private let devices: [ControlDevice]

    init(_ devices: [ControlDevice]) {
        self.devices = devices
    }

    /// Returns the devices that this one admitted, and those that they admitted in turn, in the
    /// order of the list.
    func admitted(by device: DeviceID) -> [DeviceID] {
        var reached: Set<DeviceID> = [device]
        var grows = true
        while grows {
            grows = false
            for candidate in devices {
                guard let admitter = candidate.admittedBy, reached.contains(admitter) else { continue }
                if reached.insert(candidate.id).inserted { grows = true }
            }
        }
        return devices.map(\.id).filter { $0 != device && reached.contains($0) }
    }
}
