import HandoffControl
import HandoffModel

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
