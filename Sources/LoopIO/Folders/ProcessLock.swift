import Glibc

/// A lock file that this process holds (flock(2)) until the value is released or the process ends.
package final class ProcessLock {
    /// More than the digits of any process id.
    private static let maxNote = 32

    private let file: Descriptor

    /// Creates the file if needed, locks it, and writes the id of this process into it. On a file
    /// system without locks it stays unlocked.
    /// - Returns: nil if another process holds the lock.
    package init?(_ path: String) throws(Errno) {
        let flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
        file = Descriptor(owning: try SystemCall.retrying { open(path.systemPath, flags, 0o600) })
        let number = file.raw
        do throws(Errno) {
            try SystemCall.retrying { flock(number, LOCK_EX | LOCK_NB) }
        } catch .wouldBlock {
            return nil
        } catch {
            // Without locks, only the user can prevent a second process.
        }
        let text = Array("\(getpid())\n".utf8)
        // Only for messages, so it may fail.
        _ = ftruncate(number, 0)
        _ = pwrite(number, text, text.count, 0)
    }

    deinit {
        // Not left to close(2): a child process that is being started has a copy of the descriptor
        // until exec.
        flock(file.raw, LOCK_UN)
    }

    /// Returns the process that holds the lock, without taking it; nil if no running process of this
    /// program is known to hold it.
    package static func holder(_ path: String) -> Int32? {
        let bytes = (try? LocalFile.beginning(of: path, limit: maxNote)) ?? []
        let text = String(validating: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        guard let process = text.flatMap({ Int32($0) }), process != getpid() else { return nil }
        // The id may belong to another program by now.
        let name = try? LocalFile.read("/proc/\(process)/comm", limit: 64).bytes
        let own = try? LocalFile.read("/proc/self/comm", limit: 64).bytes
        return name != nil && name == own ? process : nil
    }
}
