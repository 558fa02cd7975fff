import HandoffModel

/// Passed files that are read or written now, each for a thread of few: no device may have all of them. Plain values.
struct FileSemaphore {
    /// Files of streams with one device; half of what `FileReader` and `FileWriter` have threads for in all.
    static let maxPerDevice = 32

    private var devices: [ObjectIdentifier: DeviceID] = [:]

    /// Takes a place for a call, until `release`.
    /// - Returns: false when the device has all of its places.
    mutating func take(_ call: ObjectIdentifier, for device: DeviceID) -> Bool {
        guard devices.values.count(where: { $0 == device }) < Self.maxPerDevice else { return false }
        devices[call] = device
        return true
    }

    /// The file is done with, however it went.
    mutating func release(_ call: ObjectIdentifier) {
        devices[call] = nil
    }
}
