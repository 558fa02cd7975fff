internal import Glibc
internal import HandoffCrypto
internal import LoopIO

/// The folder with this device's keys, account and counters, for as long as the daemon runs.
///
/// Whoever has this value is the only daemon on the folder, and every file in it was found to be whole (``open(_:now:)``
/// fails otherwise), so that nothing damaged is ever overwritten. Files are replaced as a whole and durably: temporary
/// file, write, fsync, rename, fsync of the folder. A store that throws has left the old file in place, unless only the
/// very last step failed: then it is the new one.
///
/// All calls wait for the disk: make them before the loop runs, or on a `Worker`, one at a time.
package final class StateFolder: Sendable {
    /// The folder's path, for messages.
    package let path: String
    private let access: FolderAccess
    /// Holds the flock(2), which ends with this value or the process.
    private let lock: Descriptor

    /// Name of the file that is locked, and that holds the process id of who locked it.
    static let lockName = "lock"
    /// Bytes that are read of it: more than any process id has digits.
    private static let maxNote = 32

    /// Makes the folder if need be, locks it, and clears away what a crash left half-written.
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
        // Not left to closing it: a process that is being started right now has a copy of the descriptor until it runs.
        flock(lock.raw, LOCK_UN)
    }

    /// Features that the file system of the folder lacks, such as locks, as far as they were used: for a warning.
    package var limitations: [String] { access.limits.descriptions }

    /// The permission bits of the folder as they are now; nil when it cannot be asked.
    package var mode: UInt32? { try? access.status().mode }

    /// The path of a file in the folder, for messages.
    package func path(of file: StateFile) -> String {
        "\(path)/\(file.rawValue)"
    }

    /// The content of a file; nil if there is none.
    func read(_ file: StateFile) throws(StateError) -> SecretBytes? {
        do throws(Errno) {
            return try access.read(file.rawValue, longest: file.longest)
        } catch {
            throw .cannotRead(path: path(of: file), error)
        }
    }

    /// True if a file exists.
    func hasFile(_ file: StateFile) throws(StateError) -> Bool {
        do throws(Errno) {
            return try access.size(file.rawValue) != nil
        } catch {
            throw .cannotRead(path: path(of: file), error)
        }
    }

    /// Puts `bytes` in the place of a file, durably.
    func replace(_ file: StateFile, _ bytes: SecretBytes) throws(StateError) {
        do throws(Errno) {
            try access.remove(file.temporaryName)
            try access.writeNew(file.temporaryName, bytes)
            try access.rename(file.temporaryName, to: file.rawValue)
            try access.synchronize()
        } catch {
            // What is left of the attempt takes space on a disk that may be full; if it cannot go now, the next start
            // removes it.
            try? access.remove(file.temporaryName)
            throw .cannotWrite(path: path(of: file), error)
        }
    }

    /// Deletes a file, durably.
    func remove(_ file: StateFile) throws(StateError) {
        do throws(Errno) {
            try access.remove(file.rawValue)
            try access.synchronize()
        } catch {
            throw .cannotWrite(path: path(of: file), error)
        }
    }

    /// Adds lines to the log of continuations, durably; a log that is full takes the place of the former one first.
    ///
    /// - Parameter limit: most bytes of a file.
    package func appendHistory(_ lines: [UInt8], limit: Int) throws(StateError) {
        do throws(Errno) {
            var size = try access.size(Self.historyName)
            if let full = size, full > max(0, limit - lines.count) {
                try access.rename(Self.historyName, to: Self.formerHistoryName)
                size = nil
            }
            try access.append(Self.historyName, lines)
            // A new name is to last as well.
            if size == nil { try access.synchronize() }
        } catch {
            throw .cannotWrite(path: "\(path)/\(Self.historyName)", error)
        }
    }

    /// The bytes of the former log of continuations and of the present one, as far as they are there.
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

    /// The log of continuations, and the one before it.
    private static let historyName = "history"
    private static let formerHistoryName = "history.old"

    /// Opens the folder, if it is ours alone.
    private static func openOwn(_ path: String, _ fileSync: @escaping FileSync) throws(StateError) -> FolderAccess {
        func attempt<Value: ~Copyable>(_ body: () throws(Errno) -> Value) throws(StateError) -> Value {
            do throws(Errno) { return try body() } catch { throw .cannotOpen(path: path, error) }
        }
        let access = try attempt { () throws(Errno) in try FolderAccess(path: path, fileSync: fileSync) }
        let status = try attempt { () throws(Errno) in try access.status() }
        guard status.owner == geteuid() else { throw .notOurs(path: path, owner: status.owner) }
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
        // The holder may not have written its number yet.
        let note = (try? access.read(lockName, longest: maxNote))?.exposedCopy() ?? []
        throw .inUse(path: path, process: process(in: note))
    }

    private static func process(in note: [UInt8]) -> Int32? {
        String(validating: note.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self).flatMap { Int32($0) }
    }

    /// True if a process is another one that runs this program.
    private static func isOther(_ process: Int32) -> Bool {
        let name = try? LocalFile.read("/proc/\(process)/comm", limit: 64).bytes
        return process != getpid() && name != nil && name == (try? LocalFile.read("/proc/self/comm", limit: 64).bytes)
    }
}
