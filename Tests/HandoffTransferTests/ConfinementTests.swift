import Glibc
import HandoffModel
import HandoffTransfer
import LoopIO
import Testing

/// The restrictions of a receiver. They apply to single threads, so each test runs on its own
/// thread.
@Suite struct ConfinementTests {
    /// True if the kernel supports confinement: landlock_create_ruleset(2) returns the version of
    /// its interface.
    private static let kernelConfines: Bool = {
        typealias SystemCall = @convention(c) (Int, UnsafeRawPointer?, Int, Int) -> Int
        guard let address = dlsym(nil, "syscall") else { return false }
        return unsafeBitCast(address, to: SystemCall.self)(444, nil, 0, 1) > 0
    }()

    /// Runs work on a thread confined to a destination. Returns nil if the kernel does not support
    /// that.
    private static func confined<Value: Sendable>(
        to output: String, _ body: @escaping @Sendable (Destination) throws -> Value
    ) throws -> Value? {
        let result = Locked(Result<Value?, any Error>.success(nil))
        let isConfined = Locked(false)
        try OwnedThread(name: "confined") {
            let own = Result { () throws -> Value? in
                let destination = try Destination(output: output, isForced: true)
                guard destination.confine() else { return nil }
                isConfined.withLock { $0 = true }
                return try body(destination)
            }
            result.withLock { $0 = own }
        }.join()
        #expect(isConfined.withLock { $0 } == kernelConfines)
        return try result.withLock { $0 }.get()
    }

    /// Tries to execute another program. Returns only if that is refused.
    private static func run(_ path: String) -> Int32 {
        var arguments: [UnsafeMutablePointer<CChar>?] = [nil]
        return execv(path, &arguments)
    }

    private static func outcome(_ result: Int32) -> Int32 {
        result < 0 ? errno : 0
    }

    @Test
    func `nothing outside the folder can be changed, and nothing but files and folders can be created in it`() throws {
        let folder = try TestFolder()
        let other = try TestFolder()
        try other.write([1], to: "there")
        other.make("empty")
        let (path, there, new, empty) = (folder.path, other.file("there"), other.file("new"), other.file("empty"))
        let refusals = try Self.confined(to: folder.path) { _ in
            [
                "make": Self.outcome(open(new, O_WRONLY | O_CREAT, 0o600)),
                "write": Self.outcome(open(there, O_WRONLY)),
                "truncate": Self.outcome(truncate(there, 0)),
                "delete": Self.outcome(unlink(there)),
                "rename": Self.outcome(rename(there, new)),
                "move in": Self.outcome(rename(there, "\(path)/there")),
                "make folder": Self.outcome(mkdir(new, 0o700)),
                "delete folder": Self.outcome(rmdir(empty)),
                "link": Self.outcome(symlink("/etc/passwd", "\(path)/link")),
                "pipe": Self.outcome(mkfifo("\(path)/pipe", 0o600)),
            ]
        }
        for (attempt, result) in refusals ?? [:] {
            // Between folders, the kernel may report EXDEV.
            #expect(result == EACCES || attempt == "move in" && result == EXDEV, "\(attempt): \(result)")
        }
        #expect(other.names == ["empty", "there"])
        #expect(other.read("there") == [1])
        #expect(folder.names == [])
    }

    @Test
    func `no program can be run`() async {
        // In a process of its own: if it is not refused, the process becomes a program that fails.
        await #expect(processExitsWith: .success) {
            let folder = try TestFolder()
            let result = try Self.confined(to: folder.path) { _ in Self.outcome(Self.run("/bin/false")) }
            #expect(result == nil || result == EACCES)
        }
    }

    @Test
    func `threads started later are confined, too`() throws {
        let folder = try TestFolder()
        let other = try TestFolder()
        let new = other.file("new")
        let result = try Self.confined(to: folder.path) { _ in
            let result = Locked<Int32>(0)
            try OwnedThread(name: "later") {
                result.withLock { $0 = Self.outcome(open(new, O_WRONLY | O_CREAT, 0o600)) }
            }.join()
            return result.withLock { $0 }
        }
        #expect(result == nil || result == EACCES)
        #expect(other.names == [])
    }

    @Test
    func `a file, a folder and a replaced file arrive as without confinement`() throws {
        let folder = try TestFolder()
        try folder.write([9], to: "old")
        let device = try sender()
        let file = try #require(TransferHeader(kind: .file, name: "a.txt", size: 3, id: try transferID(1), mode: 0o640))
        let paths = try Self.confined(to: folder.path) { destination in
            guard case .file(let part) = try destination.open(file, from: device) else { return [String]() }
            try part.prepare(offset: 0, length: 3)
            try part.write([1, 2, 3])
            return [try part.finish()]
        }
        #expect(paths == nil || folder.read("a.txt") == [1, 2, 3] && folder.mode("a.txt") == 0o640)
        let replaced = try Self.confined(to: folder.file("old")) { destination in
            guard case .file(let part) = try destination.open(file, from: device) else { return "" }
            try part.prepare(offset: 0, length: 3)
            try part.write([4, 5, 6])
            return try part.finish()
        }
        #expect(replaced == nil || folder.read("old") == [4, 5, 6])
        let source = try TestFolder()
        source.make("tree")
        source.make("tree/in")
        try source.write([7], to: "tree/in/b", mode: 0o400)
        let writer = try SourceFile(source.file("tree")).makeArchive()
        var archive: [UInt8] = []
        while let more = try writer.next() { archive += more }
        let header = try #require(TransferHeader(kind: .folder, name: "tree"))
        let bytes = archive
        let unpacked = try Self.confined(to: folder.path) { destination in
            guard case .folder(let part) = try destination.open(header, from: device) else { return "" }
            try part.write(bytes)
            return try part.finish()
        }
        #expect(unpacked == nil || folder.read("tree/in/b") == [7])
    }

    @Test
    func `with standard output no file can be created, and other files can be read`() throws {
        let other = try TestFolder()
        let there = try other.write([1], to: "there")
        let new = other.file("new")
        let results = try Self.confined(to: "-") { _ in
            [Self.outcome(open(new, O_WRONLY | O_CREAT, 0o600)), Self.outcome(open(there, O_RDONLY))]
        }
        #expect(results == nil || results == [EACCES, 0])
    }
}
