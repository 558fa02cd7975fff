internal import Glibc
internal import HandoffCrypto
internal import LoopIO

/// The folder with this device's keys, account and counters, locked while the daemon runs.
///
/// The owner of this value is the only daemon on the folder, and every file in it was found to be
/// complete (``open(_:now:)`` fails otherwise), so damaged files are never overwritten. Files are
/// replaced durably as a whole: temporary file, write, fsync, rename, fsync of the folder. A store
/// that throws has left the old file in place, unless only the last step failed: then the new file
/// is in place.
///
/// All calls wait for the disk. Make them before the loop runs, or on a `Worker`, one at a time.
package final class StateFolder: Sendable {
    /// The folder's path, for messages.
    package let path: String
    private let access: FolderAccess
    /// Holds the flock(2), which ends with this value or the process.
    private let lock: Descriptor

    /// Name of the lock file, which contains the process id of the lock holder.
    static let lockName = "lock"
    /// Number of bytes read from it, more than the digits of any process id.
    private static let maxNote = 32

    /// Creates the folder if needed, locks it, and deletes partly written files left by a crash.
    init(locking path: String, fileSync: @escaping FileSync, fileLock: FileLock) throws(StateError) {
        self.path = path
        access = try Self.openOwn(path, fileSync)
        lock = try Self.takeLock(access, path, fileLock)
        for file in StateFile.allCases {
            do throws(Errno) {
                try access.remove(file.temporaryName)
            } catch {
                throw .cannotWrite(path: "\(path)/\(file.temporaryName)", error)
            }
        }
    }

    deinit {
        // Not left to close(2): a child process that is being started has a copy of the descriptor
        // until exec.
        flock(lock.raw, LOCK_UN)
    }

    /// Missing features of the folder's file system, such as locks, that were needed so far. Used
    /// for a warning.
    package var limitations: [String] { access.limits.descriptions }

    /// The current permission bits of the folder, or nil if they cannot be read.
    package var mode: UInt32? { try? access.status().mode }

    /// The path of a file in the folder, for messages.
    package func path(of file: StateFile) -> String {
        "\(path)/\(file.rawValue)"
    }

    /// The content of a file, or nil if it does not exist.
    func read(_ file: StateFile) throws(StateError) -> SecretBytes? {
        do throws(Errno) {
            return try access.read(file.rawValue, limit: file.maxFile)
        } catch {
            throw .cannotRead(path: path(of: file), error)
        }
    }

    /// Returns whether a file exists.
    func hasFile(_ file: StateFile) throws(StateError) -> Bool {
        do throws(Errno) {
            return try access.size(file.rawValue) != nil
        } catch {
            throw .cannotRead(path: path(of: file), error)
        }
    }

    /// Durably replaces a file with `bytes`.
    func replace(_ file: StateFile, _ bytes: SecretBytes) throws(StateError) {
        do throws(Errno) {
            try access.remove(file.temporaryName)
            try access.writeNew(file.temporaryName, bytes)
            try access.rename(file.temporaryName, to: file.rawValue)
            try access.synchronize()
        } catch {
            // The temporary file takes space on a disk that may be full. If it cannot be removed
            // now, the next start removes it.
            try? access.remove(file.temporaryName)
            throw .cannotWrite(path: path(of: file), error)
        }
    }

    /// Durably deletes a file.
    func remove(_ file: StateFile) throws(StateError) {
        do throws(Errno) {
            try access.remove(file.rawValue)
            try access.synchronize()
        } catch {
            throw .cannotWrite(path: path(of: file), error)
        }
    }

    /// Durably appends lines to the continuation log. A full log first replaces the previous one.
    ///
    /// - Parameter limit: maximum size of a file in bytes.
    package func appendHistory(_ lines: [UInt8], limit: Int) throws(StateError) {
        do throws(Errno) {
            var size = try access.size(Self.historyName)
            if let full = size, full > max(0, limit - lines.count) {
                try access.rename(Self.historyName, to: Self.formerHistoryName)
                size = nil
            }
            try access.append(Self.historyName, lines)
            // Makes the new name durable as well.
            if size == nil { try access.synchronize() }
        } catch {
            throw .cannotWrite(path: "\(path)/\(Self.historyName)", error)
        }
    }

    /// The bytes of the previous and the current continuation log, as far as they exist.
    package func readHistory(limit: Int) throws(StateError) -> [[UInt8]] {
        var files: [[UInt8]] = []
        for name in [Self.formerHistoryName, Self.historyName] {
            do throws(Errno) {
                if let bytes = try access.readEnd(name, limit: limit) { files.append(bytes) }
            } catch {
                throw .cannotRead(path: "\(path)/\(name)", error)
            }
        }
        return files
    }

    /// The current and the previous continuation log.
    private static let historyName = "history"
    private static let formerHistoryName = "history.old"

    /// Opens the folder if only this user can access it.
    private static func openOwn(_ path: String, _ fileSync: @escaping FileSync) throws(StateError) -> FolderAccess {
        func attempt<Value: ~Copyable>(_ body: () throws(Errno) -> Value) throws(StateError) -> Value {
            do throws(Errno) { return try body() } catch { throw .cannotOpen(path: path, error) }
        }
        let access = try attempt { () throws(Errno) in try FolderAccess(path: path, fileSync: fileSync) }
        let status = try attempt { () throws(Errno) in try access.status() }
        guard status.owner == geteuid() else { throw .wrongOwner(path: path, owner: status.owner) }
        guard status.mode & 0o077 == 0 else { throw .openToOthers(path: path, mode: status.mode) }
        return access
    }

    private static func takeLock(
        _ access: borrowing FolderAccess, _ path: String, _ fileLock: FileLock
    ) throws(StateError) -> Descriptor {
        do throws(Errno) {
            let lock = try access.lock(lockName, note: "\(getpid())\n", fileLock: fileLock) { note in
                process(in: note).map(isOther) ?? false
            }
            if let lock { return lock }
        } catch {
            throw .cannotWrite(path: "\(path)/\(lockName)", error)
        }
        // The holder may not have written its process id yet.
        let note = (try? access.read(lockName, limit: maxNote))?.exposedCopy() ?? []
        throw .inUse(path: path, process: process(in: note))
    }

    private static func process(in note: [UInt8]) -> Int32? {
        String(validating: note.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self).flatMap { Int32($0) }
    }

    /// Returns whether a process is another instance of this program.
    private static func isOther(_ process: Int32) -> Bool {
        let name = try? LocalFile.read("/proc/\(process)/comm", limit: 64).bytes
        return process != getpid() && name != nil && name == (try? LocalFile.read("/proc/self/comm", limit: 64).bytes)
    }
}
