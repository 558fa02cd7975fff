import HandoffModel

/// Limits the passed files that are read or written concurrently. Each uses one of few threads, and
/// no device may use all of them. Plain values.
struct FileSemaphore {
    /// The maximum number of files for streams with one device: half of the threads of `FileReader`
    /// and `FileWriter`.
    static let maxPerDevice = 32

    private var devices: [ObjectIdentifier: DeviceID] = [:]

    /// Acquires a slot for a call, until `release`.
    /// - Returns: false if the device uses all of its slots.
    mutating func take(_ call: ObjectIdentifier, for device: DeviceID) -> Bool {
        guard devices.values.count(where: { $0 == device }) < Self.maxPerDevice else { return false }
        devices[call] = device
        return true
    }

    /// Releases the slot of a call, after success or failure.
    mutating func release(_ call: ObjectIdentifier) {
        devices[call] = nil
    }
}
