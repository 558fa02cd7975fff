import Glibc
import HandoffAccount
import HandoffState
import HandoffTestSupport
import LoopIO
import Testing

/// Flushing the state to disk.
@Suite struct StateSyncTests {
    /// Records what is synchronised: the path, and for a file its size at that time.
    final class Disk: Sendable {
        private let notes = Locked<[String]>([])
        private let failing = Locked<String?>(nil)

        /// The path whose synchronisation fails.
        func fail(_ path: String) { failing.withLock { $0 = path } }

        func take() -> [String] {
            notes.withLock { notes in
                defer { notes = [] }
                return notes
            }
        }

        func sync(_ number: Int32) -> Int32 {
            var bytes = [CChar](repeating: 0, count: 4096)
            let count = readlink("/proc/self/fd/\(number)", &bytes, bytes.count)
            let path = String(decoding: bytes.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
            var status = stat()
            fstat(number, &status)
            let isFile = status.st_mode & S_IFMT == S_IFREG
            notes.withLock { $0.append(isFile ? "\(path) \(status.st_size)" : path) }
            if failing.withLock({ $0 }) == path {
                errno = EIO
                return -1
            }
            return fsync(number)
        }
    }

    let folder: ScratchStateFolder
    let disk = Disk()

    init() throws {
        folder = try ScratchStateFolder()
    }

    private func size(_ name: String) -> Int { folder.read(name)?.count ?? 0 }

    @Test
    func `the folder's own name is on disk before anything in it is stored`() throws {
        _ = try StateFolder.open(folder.path, now: 1000) { [disk] in disk.sync($0) }
        #expect(disk.take().first == String(folder.beside("").dropLast()))
        _ = try StateFolder.open(folder.path, now: 1000) { [disk] in disk.sync($0) }
        #expect(disk.take().first == "\(folder.path)/.boot.new \(size("boot"))")
    }

    @Test
    func `the names of all created parent folders are on disk too`() throws {
        let deep = folder.beside(".local/state/handoff")
        _ = try StateFolder.open(deep, now: 1000) { [disk] in disk.sync($0) }
        let above = ["", ".local", ".local/state"].map { folder.beside($0) }
        #expect(disk.take().prefix(3) == [String(above[0].dropLast()), above[1], above[2]])
    }

    @Test
    func `a whole file is on disk before it has its name, and its name before the store returns`() throws {
        let stored = try StateFolder.open(folder.path, now: 1000) { [disk] in disk.sync($0) }
        #expect(
            disk.take().dropFirst() == [
                "\(folder.path)/.identity.new \(size("identity"))", folder.path,
                "\(folder.path)/.boot.new \(size("boot"))",
                folder.path,
            ])
        try stored.folder.store(account: .creating(device: stored.identity, name: "test", now: 1000))
        #expect(
            disk.take() == [
                "\(folder.path)/.account.new \(size("account"))", folder.path,
                "\(folder.path)/.joined.new \(size("joined"))", folder.path,
            ])
        _ = try stored.folder.resetIdentity()
        // The note that it leaves; the removal of the account, the joined note, the callers and the
        // receipts; the new identity; the removal of the first note.
        #expect(disk.take().count { $0 == folder.path } == 7)
    }

    @Test
    func `a file that cannot be flushed is not stored, and the previous file stays`() throws {
        let stored = try StateFolder.open(folder.path, now: 1000) { [disk] in disk.sync($0) }
        let former = folder.read("boot")
        disk.fail("\(folder.path)/.boot.new")
        #expect(throws: StateError.cannotWrite(path: "\(folder.path)/boot", .init(rawValue: EIO))) {
            try stored.folder.store(generation: 7777)
        }
        #expect(folder.read("boot") == former)
        disk.fail(folder.path)
        #expect(throws: StateError.self) { try stored.folder.store(generation: 7777) }
    }

    @Test(arguments: [EINVAL, ENOSYS, EOPNOTSUPP])
    func `a file system that does not synchronise folders is used, and reported once`(error: Int32) throws {
        let stored = try StateFolder.open(folder.path, now: 1000) { number in
            var status = stat()
            fstat(number, &status)
            guard status.st_mode & S_IFMT == S_IFDIR else { return fsync(number) }
            errno = error
            return -1
        }
        try stored.folder.store(generation: 5)
        #expect(stored.folder.limitations == ["synchronised folders (\(Errno(rawValue: error)))"])
        try stored.folder.appendHistory(Array("{}\n".utf8), limit: 100)
        #expect(folder.read("history") == Array("{}\n".utf8))
    }

    /// The name of a process (proc(5), comm).
    private static func name(of process: String) throws -> String {
        String(decoding: try LocalFile.read("/proc/\(process)/comm", limit: 64).bytes.dropLast(), as: UTF8.self)
    }

    @Test(arguments: [ENOLCK, ENOSYS, EOPNOTSUPP, EINVAL])
    func `a file system without locks is used, unless the daemon of the note is still running`(error: Int32) throws {
        let refusing: FileLock = { _ in
            errno = error
            return -1
        }
        let stored = try StateFolder.open(folder.path, now: 1000, fileLock: refusing)
        #expect(stored.folder.limitations == ["locks (\(Errno(rawValue: error)))"])
        // A process with another name has the number of a daemon that was killed.
        try folder.write("lock", Array("1\n".utf8))
        _ = try StateFolder.open(folder.path, now: 1000, fileLock: refusing)
        // A process with the same name is another daemon.
        let name = try Self.name(of: "self")
        let program = folder.beside(name)
        var process: pid_t = 0
        let copied = try LocalFile.read("/bin/sleep", limit: 1 << 20).bytes
        let file = open(program, O_WRONLY | O_CREAT | O_CLOEXEC, 0o755)
        #expect(write(file, copied, copied.count) == copied.count)
        close(file)
        let words = [strdup(program), strdup("60"), nil]
        try #require(posix_spawn(&process, program, nil, nil, words, environ) == 0)
        defer {
            kill(process, SIGKILL)
            waitpid(process, nil, 0)
            unlink(program)
            for word in words { free(word) }
        }
        // posix_spawn(3) may return before the kernel has set the new name of the process.
        while try Self.name(of: "\(process)") != name { sched_yield() }
        try folder.write("lock", Array("\(process)\n".utf8))
        #expect(throws: StateError.inUse(path: folder.path, process: process)) {
            _ = try StateFolder.open(folder.path, now: 1000, fileLock: refusing)
        }
    }

    @Test
    func `another error of a lock or of a folder is not ignored`() throws {
        #expect(throws: StateError.self) {
            _ = try StateFolder.open(folder.path, now: 1000) { _ in
                errno = EIO
                return -1
            }
        }
        #expect(throws: StateError.self) {
            _ = try StateFolder.open(
                folder.path, now: 1000,
                fileLock: { _ in
                    errno = EIO
                    return -1
                })
        }
    }
}
