package import HandoffAccount
package import HandoffModel

/// The number of the latest call of each party that opened by the static label. That label never
/// changes, so each call needs a greater number than the one before, and a recorded one never opens
/// again. Plain values.
package struct StaticCalls: Sendable {
    private var latest: [Party: Gate.Serial]
    /// Increases with each call that is noted.
    package private(set) var version: UInt64 = 0

    /// - Parameter stored: the calls stored by earlier starts.
    package init(_ stored: [DeviceID: Gate.Serial] = [:]) {
        latest = Dictionary(uniqueKeysWithValues: stored.map { (.device($0.key), $0.value) })
    }

    /// The calls to store. Tickets are left out because they are valid for one day and one device.
    package var stored: [DeviceID: Gate.Serial] {
        var stored: [DeviceID: Gate.Serial] = [:]
        for case (.device(let device), let serial) in latest { stored[device] = serial }
        return stored
    }

    /// Forgets all parties but these.
    package mutating func retain(_ parties: some Collection<Party>) {
        latest = latest.filter { parties.contains($0.key) }
    }

    /// Notes a call that is later than all before; otherwise returns false.
    ///
    /// - Parameter generation: the greatest generation of the party known otherwise.
    package mutating func admit(_ serial: Gate.Serial, of party: Party, knownGeneration generation: UInt64) -> Bool {
        guard serial.generation >= generation, latest[party].map({ $0 < serial }) ?? true else { return false }
        latest[party] = serial
        version += 1
        return true
    }
}
