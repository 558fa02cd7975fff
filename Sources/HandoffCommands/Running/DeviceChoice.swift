import HandoffControl
import HandoffModel

/// Finds the device that a word on the command line means. What is shown to the user and what is done then concern the
/// same device, whatever happens in between: the daemon is given the whole id.
enum DeviceChoice {
    /// The device of this name, or whose id begins like this.
    /// - Throws: `CommandFailure` when none or several fit.
    static func find(_ text: String, in devices: [ControlDevice]) throws(CommandFailure) -> ControlDevice {
        let digits = text.lowercased().filter { !" -:".contains($0) }
        let fitting = devices.filter { device in
            device.name == text || (!digits.isEmpty && device.id.hex.hasPrefix(digits))
        }
        guard let device = fitting.first else { throw .noSuchDevice(text) }
        guard fitting.count == 1 else {
            let texts = DeviceText(devices)
            throw .ambiguousDevice(text, candidates: fitting.map { texts.label($0.id) })
        }
        return device
    }
}
