import CLinux
import Glibc
package import LoopIO

/// The check that has to precede calls by which Avahi's libraries open descriptors. libavahi-core asserts that it got its netlink
/// socket, so that without a free descriptor it would end the process.
package enum DescriptorReserve {
    /// Free descriptors that are required. libavahi-core opens three, and libavahi-client at most as many. The rest is for other
    /// threads that open some between the check and the call.
    private static let count = 16

    /// Opens the required descriptors, asks the kernel for the links as libavahi-core does, and closes them again.
    /// - Returns: the error, or nil if all are available.
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
