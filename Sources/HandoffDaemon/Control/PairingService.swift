import HandoffControl
import HandoffJSON

/// The part of the control interface that pairs: opening a window, answering for it, joining. Lives on the daemon's loop.
final class PairingService {
    func pair(_ call: ControlCall) throws {
        call.fail(VarlinkService.methodNotImplemented, ["method": .string(call.method)])
    }

    func answer(_ call: ControlCall) throws {
        call.fail(VarlinkService.methodNotImplemented, ["method": .string(call.method)])
    }

    func join(_ call: ControlCall) throws {
        call.fail(VarlinkService.methodNotImplemented, ["method": .string(call.method)])
    }
}
