import HandoffControl
import HandoffModel

/// Finds the device that a command-line argument names. The device shown to the user and the one
/// acted on are the same, whatever happens in between: the daemon is given the whole id.
enum DeviceChoice {
    /// Returns the device that `DeviceNames` chooses.
    /// - Throws: `CommandFailure` if none or several match.
    static func find(_ text: String, in devices: [ControlDevice]) throws(CommandFailure) -> ControlDevice {
        switch DeviceNames(devices).choose(text) {
        case .one(let id):
            guard let device = devices.first(where: { $0.id == id }) else { throw .noSuchDevice(text) }
            return device
        case .nothing: throw .noSuchDevice(text)
        case .ambiguous(let ids):
            let texts = DeviceText(devices)
            throw .ambiguousDevice(text, candidates: ids.map(texts.label))
        }
    }
}
