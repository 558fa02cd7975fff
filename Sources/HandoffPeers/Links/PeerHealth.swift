package import HandoffModel
import HandoffProtocol
import LoopIO
package import Timing

/// When each device was heard last, and what went wrong with it last. Plain values, for `doctor`.
package struct PeerHealth {
    private var heard: [DeviceID: MonotonicInstant] = [:]
    private var troubles: [DeviceID: String] = [:]

    package init() {}

    /// A device was heard.
    package mutating func note(_ device: DeviceID, at now: MonotonicInstant) {
        heard[device] = now
    }

    /// A connection to a device has ended; nil when nothing was wrong with it.
    package mutating func note(_ device: DeviceID, trouble: String?) {
        troubles[device] = trouble
    }

    /// Forgets who is no member any more.
    package mutating func retain(_ devices: Set<DeviceID>) {
        heard = heard.filter { devices.contains($0.key) }
        troubles = troubles.filter { devices.contains($0.key) }
    }

    /// How long ago a device was heard, in seconds.
    package func age(of device: DeviceID, at now: MonotonicInstant) -> Double? {
        heard[device].map { Double((now - $0).components.seconds) }
    }

    /// What went wrong with it last.
    package func trouble(with device: DeviceID) -> String? { troubles[device] }
}
