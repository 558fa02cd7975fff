internal import Glibc
internal import LoopIO

/// Features that the file system of the state folder lacks: found in use, and no reason to fail.
final class StorageLimits: Sendable {
    private let found = Locked<Set<String>>([])

    /// The missing features, for the log, sorted.
    var descriptions: [String] { found.withLock { $0.sorted() } }

    /// Calls `body`, and ignores an error by which a file system refuses a call that it does not have.
    /// - Parameter what: what is missing then.
    func ignoringRefusal(of what: String, _ body: () throws(Errno) -> Void) throws(Errno) {
        do throws(Errno) {
            try body()
        } catch {
            guard Self.refusals.contains(error) else { throw error }
            found.withLock { _ = $0.insert("\(what) (\(error))") }
        }
    }

    /// EINVAL, ENOSYS, EOPNOTSUPP, and of locks ENOLCK too.
    private static let refusals = [EINVAL, ENOSYS, EOPNOTSUPP, ENOLCK].map { Errno(rawValue: $0) }
}
