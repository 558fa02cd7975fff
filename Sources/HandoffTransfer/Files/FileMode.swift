import Glibc
import LoopIO

/// Permissions of files on file systems that may have none of their own, such as those of memory sticks and network disks.
enum FileMode {
    /// fchmod(2).
    /// - Returns: false where the file system refuses it, which is no reason to fail: cp(1) continues too.
    static func set(_ mode: UInt32, of number: Int32, calls: KernelCalls) throws(Errno) -> Bool {
        guard calls.setsModes else { return false }
        do throws(Errno) {
            try SystemCall.retrying { fchmod(number, mode) }
            return true
        } catch {
            guard refusals.contains(error) else { throw error }
            return false
        }
    }

    private static let refusals: [Errno] = [
        .notPermitted, .permissionDenied, .invalidArgument, .noSuchCall, .notSupported,
    ]

    /// For the user, once for a transfer.
    static let remark = "the file system refuses to set permissions, so those of the sender are not kept"
}
