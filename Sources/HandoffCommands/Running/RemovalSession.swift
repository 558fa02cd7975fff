import HandoffClient
import HandoffControl
import HandoffJSON
import HandoffModel
import LoopIO

/// Removes a device: finds it, asks, removes it, and follows who hears of it for a while.
final class RemovalSession {
    private let request: RemovalRequest
    private let context: CommandContext
    /// The devices before the removal: names of removed ones are not in the account any more.
    private var texts = DeviceText([])
    private var name = ""
    /// This device, which has the new key as soon as there is one.
    private var own: DeviceID?
    /// What was told last; nil until the device is removed.
    private var state: RemovalEvent?

    init(_ request: RemovalRequest, _ context: CommandContext) {
        self.request = request
        self.context = context
    }

    /// Finds the device, and asks unless the user has confirmed already.
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
            context.confirm("Remove \(whole) for ever?") { [unowned self, unowned client] yes in
                if yes { remove(device.id, drop, client) } else { context.fail(.notConfirmed()) }
            }
        }
    }

    private func find(_ text: String, _ devices: [ControlDevice]) throws(CommandFailure) -> ControlDevice {
        let device = try DeviceChoice.find(text, in: devices)
        if device.isSelf { throw .removesItself() }
        return device
    }

    /// Whom the device let in, and what becomes of them.
    private func warning(_ device: DeviceID, _ drop: [DeviceID], _ devices: [ControlDevice]) -> String {
        let admitted = Admissions(devices).admitted(by: device)
        let staying = admitted.filter { !drop.contains($0) }
        var text = ""
        if !admitted.isEmpty { text += "\(texts.label(device)) let in: \(texts.labels(admitted))\n" }
        if !staying.isEmpty { text += "These stay, unless you name them with --drop: \(texts.labels(staying))\n" }
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
                // The removal itself stands, once it was told.
                if state != nil { sayWhoWaits() }
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
        if context.json { return context.console.line(Describe.event(event.kind.rawValue, event.json)) }
        if before == nil { say("removed", texts.label(event.device)) }
        let news = event.confirmed.filter { !(before?.confirmed.contains($0) ?? false) }
        for device in news where device != own { say("confirmed", texts.label(device)) }
    }

    private func conclude() {
        guard context.status == nil else { return }
        sayWhoWaits()
        context.finish(.done)
    }

    private func sayWhoWaits() {
        guard let waiting = state?.waiting, !waiting.isEmpty else { return }
        if !context.json { say("waiting", texts.labels(waiting)) }
        context.note("until they hear of it, \(name) can still read what they offer")
    }

    private func say(_ event: String, _ text: String) {
        context.console.line("\(Describe.word(event, width: 9))  \(text)")
    }
}

/// What the user asked `device remove` to do.
struct RemovalRequest {
    /// The device, as the user wrote it.
    let device: String
    /// Those that go with it, as the user wrote them.
    let dropped: [String]
    /// Whether the user has confirmed already.
    let isConfirmed: Bool
    /// How long to follow who hears of it; zero for not at all.
    let timeout: Duration
}

/// Who let whom into the account.
struct Admissions {
    private let devices: [ControlDevice]

    init(_ devices: [ControlDevice]) {
        self.devices = devices
    }

    /// The devices that this one let in, and those that they let in, in the order of the list.
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
