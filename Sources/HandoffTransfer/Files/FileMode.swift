import Glibc
import LoopIO

/// Permissions of files, including on file systems without permissions, such as those of memory
/// sticks and network disks.
enum FileMode {
    /// Sets the permissions (fchmod(2)).
    /// - Returns: false if the file system refuses. Like cp(1), callers then continue.
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

    /// The remark for the user, shown once per transfer.
    static let remark = "the file system refuses to set permissions, so those of the sender are not kept"
}
