import CLinux
import Glibc
package import LoopIO

/// A check to run before calls in which Avahi's libraries open descriptors. libavahi-core asserts
/// that it could open its netlink socket, so without a free descriptor it would terminate the
/// process.
package enum DescriptorReserve {
    /// The number of free descriptors required. libavahi-core opens three, and libavahi-client at
    /// most as many. The rest is for other threads that may open some between the check and the
    /// call.
    private static let count = 16

    /// Opens the required descriptors, requests the links from the kernel as libavahi-core does,
    /// and closes the descriptors.
    /// - Returns: The error, or nil if all are available.
    package static func shortage() -> Errno? {
        let first = clinux_netlink_open(0)
        guard first >= 0 else { return .current }
        var opened = [first]
        defer { for descriptor in opened { close(descriptor) } }
        guard clinux_netlink_dump(first, UInt16(clinux_netlink_get_link), 1) == 0 else { return .current }
        while opened.count < count {
            let next = fcntl(first, F_DUPFD_CLOEXEC, 0)
            guard next >= 0 else { return .current }
            opened.append(next)
        }
        return nil
    }
}
