import HandoffModel
package import LoopIO

/// The wall clock of the devices of a test, which advances with their other clock.
package struct FleetWallClock: WallClock {
    package let clock: ManualClock
    /// Seconds by which the device's clock differs from that of the test.
    package let difference: Locked<Int64>

    package init(clock: ManualClock, difference: Locked<Int64> = Locked(0)) {
        self.clock = clock
        self.difference = difference
    }

    package var unixSeconds: UInt64 { UInt64(max(signedUnixSeconds, 0)) }

    package var signedUnixSeconds: Int64 {
        1_800_000_000 + difference.withLock { $0 } + Int64(clamping: clock.now.nanoseconds / 1_000_000_000)
    }
}
