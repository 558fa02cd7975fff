import CLinux
import Glibc
import HandoffModel

/// The machine's wall clock (CLOCK_REALTIME).
package struct SystemWallClock: WallClock {
    package init() {}

    package var unixSeconds: UInt64 { UInt64(max(time(nil), 0)) }

    package var secondsSince1970: Double {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    package var signedUnixSeconds: Int64 { Int64(time(nil)) }
}
