package import HandoffControl
package import HandoffModel
import LoopIO

/// The directions that the user has switched off, for all devices or for one, permanently or until
/// a time. Plain values.
///
/// The time is by the wall clock, so that it survives restarts. Setting the clock forward ends it
/// early, as with any alarm. Setting the clock back does not extend it, because the loop's clock
/// limits it too.
package struct Switches: Sendable, Equatable {
    /// A setting that can be switched off.
    package struct Place: Hashable, Sendable, Comparable {
        /// The direction to switch off.
        package let direction: SwitchDirection
        /// The only device affected, or nil for all devices.
        package let device: DeviceID?

        package init(_ direction: SwitchDirection, _ device: DeviceID? = nil) {
            self.direction = direction
            self.device = device
        }

        /// The order in the file: entries for all devices before those for single ones.
        package static func < (left: Place, right: Place) -> Bool {
            switch (left.device, right.device) {
            case (nil, nil): left.direction.rawValue < right.direction.rawValue
            case (nil, _?): true
            case (_?, nil): false
            case (let first?, let second?):
                first == second ? left.direction.rawValue < right.direction.rawValue : first < second
            }
        }
    }

    /// The time during which a setting is off.
    package struct Off: Sendable, Equatable {
        /// When it was switched off, in seconds since 1970.
        package let since: UInt64
        /// When it switches on again, in seconds since 1970, or nil if the user must switch it on.
        package let until: UInt64?
        /// The latest time on the loop's clock at which it switches on. Not stored: that clock
        /// restarts with the machine.
        var latest: MonotonicInstant?

        /// Returns whether the time has passed.
        func hasExpired(at moment: SwitchMoment) -> Bool {
            // Ignore an end before the start, as in a file edited by hand.
            if let until, moment.unixSeconds >= until || until <= since { return true }
            if let latest, moment.instant >= latest { return true }
            return false
        }
    }

    /// The longest duration that can be given, in seconds: a year.
    package static let maxSeconds = 366.0 * 86_400
    /// Maximum number of entries: twice the 512 for both directions of 256 devices, the most that
    /// an account can have.
    static let maxPlaces = 1024
    /// Maximum interval between checks of the wall clock, which may have been set.
    static let maxWait = Duration.seconds(30)

    private var off: [Place: Off] = [:]

    /// Creates switches with everything on.
    package init() {}

    /// The switched-off settings, in the order of the file.
    package var entries: [(place: Place, off: Off)] {
        off.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// The entry of exactly this setting, or nil if it is on.
    package func off(_ place: Place) -> Off? { off[place] }

    /// Returns whether a direction is off for a device, alone or with all others. Without a device,
    /// returns whether it is off for all.
    package func isOff(_ direction: SwitchDirection, for device: DeviceID? = nil) -> Bool {
        if off[Place(direction)] != nil { return true }
        guard let device else { return false }
        return off[Place(direction, device)] != nil
    }

    /// The devices for which a direction is switched off individually.
    package func devices(without direction: SwitchDirection) -> Set<DeviceID> {
        Set(off.keys.filter { $0.direction == direction }.compactMap(\.device))
    }

    /// Switches a setting off for a number of seconds, or until the user switches it on. Replaces
    /// the earlier entry.
    package mutating func turnOff(_ place: Place, seconds: Double?, at moment: SwitchMoment) {
        guard off[place] != nil || off.count < Self.maxPlaces else { return }
        guard let seconds else {
            off[place] = Off(since: moment.unixSeconds, until: nil)
            return
        }
        let length = min(max(seconds.isFinite ? seconds : Self.maxSeconds, 0), Self.maxSeconds)
        // The wall clock is read in whole seconds. Add one, so that the loop's clock ends it at the
        // right time.
        let (until, overflow) = moment.unixSeconds.addingReportingOverflow(UInt64(length) + 1)
        off[place] = Off(
            since: moment.unixSeconds, until: overflow ? .max : until,
            latest: moment.instant.advanced(by: .seconds(length)))
    }

    /// Adds a stored entry. Returns false if there are too many.
    mutating func add(_ place: Place, _ entry: Off) -> Bool {
        guard off.count < Self.maxPlaces else { return false }
        off[place] = entry
        return true
    }

    /// Switches a setting on.
    package mutating func turnOn(_ place: Place) {
        off[place] = nil
    }

    /// Drops devices that are no longer members.
    package mutating func retain(_ devices: Set<DeviceID>) {
        off = off.filter { $0.key.device.map(devices.contains) ?? true }
    }

    /// Switches on what has expired, and starts timing entries that were just read.
    ///
    /// - Returns: whether anything was switched on.
    package mutating func review(at moment: SwitchMoment) -> Bool {
        var hasChanged = false
        for (place, entry) in off {
            guard !entry.hasExpired(at: moment) else {
                off[place] = nil
                hasChanged = true
                continue
            }
            guard entry.latest == nil, let until = entry.until else { continue }
            // A clock that is behind the time of switching off was set back, or has not been set
            // yet. The rest never exceeds the whole duration.
            let whole = until > entry.since ? until - entry.since : 0
            let left = min(until - moment.unixSeconds, whole)
            off[place]?.latest = moment.instant.advanced(by: .seconds(min(Double(left), Self.maxSeconds)))
        }
        return hasChanged
    }

    /// The time until `review` must be called again, or nil if nothing expires.
    package func wait(at moment: SwitchMoment) -> Duration? {
        let ends = off.values.compactMap(\.latest)
        guard let first = ends.min() else { return nil }
        return min(max(first - moment.instant, .zero), Self.maxWait)
    }
}
