package import HandoffControl
package import HandoffModel
import LoopIO
import Timing

/// What the user has switched off: each direction, for all devices or for one, for ever or until a time. Plain values.
///
/// A time is one of the wall clock, so that it outlasts restarts. A clock that is set forward ends it early, as any
/// alarm; one that is set back makes nothing last longer than was asked for, as the loop's clock counts along.
package struct Switches: Sendable, Equatable {
    /// What can be switched.
    package struct Place: Hashable, Sendable, Comparable {
        /// Which direction is switched off.
        package let direction: SwitchDirection
        /// The only device that it concerns; nil: all.
        package let device: DeviceID?

        package init(_ direction: SwitchDirection, _ device: DeviceID? = nil) {
            self.direction = direction
            self.device = device
        }

        /// The order of the file: all devices before single ones.
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

    /// How long something is off.
    package struct Off: Sendable, Equatable {
        /// When it was switched off, in seconds since 1970.
        package let since: UInt64
        /// When it goes on again, in seconds since 1970; nil: when somebody switches it on.
        package let until: UInt64?
        /// The loop's moment at which it goes on at the latest. Not stored: the loop's clock begins anew with the machine.
        var latest: MonotonicInstant?

        /// Whether it is over.
        func isOver(at moment: SwitchMoment) -> Bool {
            // An end before the beginning, in a file that was edited by hand, is none to wait for.
            if let until, moment.unixSeconds >= until || until <= since { return true }
            if let latest, moment.instant >= latest { return true }
            return false
        }
    }

    /// The longest time that can be given, in seconds: a year.
    package static let longest = 366.0 * 86_400
    /// The most places that are kept: twice as many as an account has devices.
    static let most = 1024
    /// How long at most until the wall clock is looked at again, since it may have been set.
    static let maxWait = Duration.seconds(30)

    private var off: [Place: Off] = [:]

    /// Everything is on.
    package init() {}

    /// What is off, in the order of the file.
    package var entries: [(place: Place, off: Off)] {
        off.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// How long this very place is off; nil when it is on.
    package func off(_ place: Place) -> Off? { off[place] }

    /// Whether a direction is off for a device, by itself or with all others; without one: for all.
    package func isOff(_ direction: SwitchDirection, for device: DeviceID? = nil) -> Bool {
        if off[Place(direction)] != nil { return true }
        guard let device else { return false }
        return off[Place(direction, device)] != nil
    }

    /// The devices for which a direction is off by itself.
    package func devices(without direction: SwitchDirection) -> Set<DeviceID> {
        Set(off.keys.filter { $0.direction == direction }.compactMap(\.device))
    }

    /// Switches a place off, for some seconds or until somebody switches it on. What was said before is replaced.
    package mutating func turnOff(_ place: Place, seconds: Double?, at moment: SwitchMoment) {
        guard off[place] != nil || off.count < Self.most else { return }
        guard let seconds else {
            off[place] = Off(since: moment.unixSeconds, until: nil)
            return
        }
        let length = min(max(seconds.isFinite ? seconds : Self.longest, 0), Self.longest)
        // The wall clock is read in whole seconds: one more, so that the loop's clock ends it at the right moment.
        let (until, overflow) = moment.unixSeconds.addingReportingOverflow(UInt64(length) + 1)
        off[place] = Off(
            since: moment.unixSeconds, until: overflow ? .max : until,
            latest: moment.instant.advanced(by: .seconds(length)))
    }

    /// Takes an entry as it was stored; false when there are too many.
    mutating func add(_ place: Place, _ entry: Off) -> Bool {
        guard off.count < Self.most else { return false }
        off[place] = entry
        return true
    }

    /// Switches a place on.
    package mutating func turnOn(_ place: Place) {
        off[place] = nil
    }

    /// Forgets devices that are members no more.
    package mutating func retain(_ devices: Set<DeviceID>) {
        off = off.filter { $0.key.device.map(devices.contains) ?? true }
    }

    /// Switches on what is over, and counts from here on what was just read.
    ///
    /// - Returns: whether something went on.
    package mutating func review(at moment: SwitchMoment) -> Bool {
        var hasChanged = false
        for (place, entry) in off {
            guard !entry.isOver(at: moment) else {
                off[place] = nil
                hasChanged = true
                continue
            }
            guard entry.latest == nil, let until = entry.until else { continue }
            // A clock that is behind the moment of switching off was set back, or has not been set yet: what is left is
            // never more than the whole.
            let whole = until > entry.since ? until - entry.since : 0
            let left = min(until - moment.unixSeconds, whole)
            off[place]?.latest = moment.instant.advanced(by: .seconds(min(Double(left), Self.longest)))
        }
        return hasChanged
    }

    /// How long until `review` is to be called again; nil when nothing ends by itself.
    package func wait(at moment: SwitchMoment) -> Duration? {
        let ends = off.values.compactMap(\.latest)
        guard let first = ends.min() else { return nil }
        return min(max(first - moment.instant, .zero), Self.maxWait)
    }
}
