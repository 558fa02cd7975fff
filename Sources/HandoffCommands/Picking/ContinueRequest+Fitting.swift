import HandoffControl
import HandoffModel

extension ContinueRequest {
    /// Whether an offer is one that is asked for by its id, its type and its device; the daemon judges in the same way.
    func fits(_ offer: ControlActivity) -> Bool {
        if let activity, !offer.id.hex.hasPrefix(activity) { return false }
        if let type, type != offer.type.text { return false }
        guard let from else { return true }
        let digits = DeviceChoice.digits(from)
        return offer.deviceName == from || (digits.count >= 4 && offer.device.hex.hasPrefix(digits))
    }
}
