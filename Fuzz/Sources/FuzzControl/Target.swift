import FuzzSupport
import HandoffControl
import HandoffHandlers
import HandoffJSON
import HandoffModel

/// Data from a client to the control socket, and from a server to a client: messages in pieces of
/// any size, and the parameters of every method. The first byte selects the side, the second the
/// size of the pieces.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ pointer: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = Input(pointer, count)
    let isServer = input.byte() % 2 == 0
    let size = input.byte()
    if isServer {
        serve(input.pieces(of: size))
    } else {
        ask(input.pieces(of: size))
    }
    return 0
}

private let service = VarlinkService(version: "1", interfaces: HandoffInterfaces.onControlSocket)

private func serve(_ pieces: [[UInt8]]) {
    var machine = VarlinkServerMachine()
    for piece in pieces {
        // A driver does not read while the state machine accepts no input.
        guard machine.wantsInput else { return }
        var actions = machine.received(piece)[...]
        var served = 0
        while let action = actions.popFirst() {
            switch action {
            case .dispatch(let call, let id):
                served += 1
                parameters(of: call)
                if let reply = service.reply(to: call) {
                    if let error = reply.error {
                        actions += machine.fail(id, error: error, parameters: reply.parameters)
                    } else {
                        actions += machine.reply(to: id, reply.parameters, continues: false)
                    }
                } else if call.upgrade {
                    actions += machine.upgrade(id, [:])
                } else {
                    actions += machine.fail(id, error: "dev.handoff1.NoSuchSession", parameters: ["session": ""])
                }
            case .close, .upgrade: return
            case .send, .abandon: break
            }
        }
        require(machine.outstanding <= VarlinkServerMachine.maxOutstanding, "too many calls are read ahead")
    }
    _ = machine.receivedEnd()
}

private func ask(_ pieces: [[UInt8]]) {
    var machine = VarlinkClientMachine()
    _ = machine.call(VarlinkCall(method: ControlMethod.watch.rawValue, parameters: [:], more: true))
    for piece in pieces {
        for action in machine.received(piece) {
            switch action {
            case .reply(_, let reply):
                _ = try? WatchEvent(json: reply.parameters)
                _ = try? ContinueEvent(json: reply.parameters)
                _ = try? AppEvent(json: reply.parameters)
                _ = try? PassFileReply(json: reply.parameters)
                _ = try? AwaitStreamReply(json: reply.parameters)
                _ = try? StreamEndedError(json: reply.parameters)
                _ = try? ControlStatus(json: reply.parameters)
                _ = try? ControlAccount(json: reply.parameters)
            case .close, .upgraded: return
            default: break
            }
        }
    }
    _ = machine.receivedEnd()
}

/// Decodes the parameters as each of the methods would.
private func parameters(of call: VarlinkCall) {
    desktop(call.parameters)
    _ = try? AttachRequest(json: call.parameters)
    _ = try? DeclareRequest(json: call.parameters)
    _ = try? ContinueRequest(json: call.parameters)
    _ = try? OpenStreamRequest(json: call.parameters)
    _ = try? PassFileRequest(json: call.parameters)
    _ = try? ReportReceivedRequest(json: call.parameters)
    _ = try? ReportProgressRequest(json: call.parameters)
    if let change = try? ActivityChange(json: call.parameters), let type = ActivityType("com.example.editing") {
        _ = change.applied(to: ActivityContent(type: type))
    }
    if let description = try? ActivityDescription(json: call.parameters), let content = try? description.content() {
        _ = try? content.validate(origin: PayloadOrigin(), maxPayload: Limits.payloadDefault)
    }
}

/// The daemon's calls to handoff-desktop, and the replies. Each side treats the other as untrusted.
private func desktop(_ parameters: JSONObject) {
    _ = try? NotificationEvent(json: parameters)
    _ = (try? NetworkNames(json: parameters))?.byInterface
    if let report = try? LoginReport(json: parameters) {
        require((try? LoginReport(json: report.json)) == report, "a report of sessions reads differently")
    }
    if let notification = try? DesktopNotification(json: parameters) {
        require(
            (try? DesktopNotification(json: notification.json)) == notification, "a notification changes on its way")
    }
    _ = try? TrayEvent(json: parameters)
    if let content = try? TrayContent(json: parameters) {
        require((try? TrayContent(json: content.json)) == content, "the menu of the tray changes on its way")
    }
    if let apps = try? InstalledApps(json: parameters) {
        require((try? InstalledApps(json: apps.json)) != nil, "apps are not read again")
    }
}
