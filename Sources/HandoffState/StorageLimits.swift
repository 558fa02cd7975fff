internal import Glibc
internal import LoopIO

/// Features that the file system of the state folder lacks. They are detected on use and cause no
/// failure.
final class StorageLimits: Sendable {
    private let found = Locked<Set<String>>([])

    /// The missing features, sorted, for the log.
    var descriptions: [String] { found.withLock { $0.sorted() } }

    /// Calls `body` and ignores errors that mean that the file system does not support the call.
    /// - Parameter what: the feature that is missing then.
    func ignoringRefusal(of what: String, _ body: () throws(Errno) -> Void) throws(Errno) {
        do throws(Errno) {
            try body()
        } catch {
            guard Self.refusals.contains(error) else { throw error }
            found.withLock { _ = $0.insert("\(what) (\(error))") }
        }
    }

    /// EINVAL, ENOSYS, EOPNOTSUPP, and for locks also ENOLCK.
    private static let refusals = [EINVAL, ENOSYS, EOPNOTSUPP, ENOLCK].map { Errno(rawValue: $0) }
}
