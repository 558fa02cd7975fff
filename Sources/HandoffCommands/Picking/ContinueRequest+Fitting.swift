import HandoffControl
import HandoffModel

extension ContinueRequest {
    /// Whether an offer is one that is asked for by its type and its device; the daemon judges in the same way.
    func fits(_ offer: ControlActivity) -> Bool {
        if let type, type != offer.type.text { return false }
        guard let from else { return true }
        return DeviceNames([offer.device: offer.deviceName]).choose(from) == .one(offer.device)
    }
}
