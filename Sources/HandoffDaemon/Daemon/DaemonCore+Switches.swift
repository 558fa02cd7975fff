import HandoffControl
import HandoffHandlers
import HandoffModel
import HandoffProtocol
import LoopIO

/// What the switches change.
extension DaemonCore {
    /// What this device offers, most recent first, as far as it may.
    var ownOffers: [OfferedActivity] {
        guard board.allows(.advertise) else { return [] }
        return apps.offers().filter { board.policy.forbids($0.type) == nil }
    }

    /// Tells who chooses apps which of them the user has switched off, or the administrator forbids.
    func disableApps() {
        installed.setDisabled(disabledApps.ids.union(board.policy.forbiddenApps.compactMap { AppID($0) }))
    }

    /// Something is allowed, or forbidden, that was not before.
    func switchesChanged() {
        disableApps()
        network.switchesChanged()
        control.offersChanged()
    }

    /// Switches on or off; the device is a member's name or the beginning of its id.
    func setSwitches(
        _ request: SetSwitchesRequest, completion: @escaping (Result<ControlSwitches, any Error>) -> Void
    ) {
        do {
            let device = try request.device.map { try member($0) }
            guard device != keeper.deviceID else {
                throw CallError.noSuchDevice(
                    request.device ?? "", "this is the device itself: leave the device out, to switch for all others")
            }
            board.set(request, device: device, live: ring.live, completion: completion)
        } catch {
            completion(.failure(error))
        }
    }
}
