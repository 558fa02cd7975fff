import Glibc
import HandoffModel
import HandoffTransfer
import LoopIO
import Testing

@Suite struct LeftoversTests {
    private let folder: TestFolder
    private let leftovers: Leftovers
    private let now = Int64(time(nil))

    init() throws {
        folder = try TestFolder()
        folder.make("in")
        leftovers = try #require(Leftovers(cache: folder.file("cache")))
    }

    private func open(_ kind: TransferHeader.Kind) throws -> Destination.Incoming {
        let header = try #require(
            TransferHeader(
                kind: kind, name: "a.txt", size: kind == .file ? 9 : nil, id: try transferID(kind == .file ? 1 : 2)))
        let destination = try Destination(output: folder.file("in"))
        leftovers.remember(try #require(destination.folderPath))
        return try destination.open(header, from: try sender())
    }

    /// Leaves the part of a file, and of a folder.
    private func interrupt() throws {
        guard case .file(let file) = try open(.file) else { throw TransferFailure(.failed, "no file") }
        try file.prepare(offset: 0, length: 9)
        try file.write([1, 2, 3])
        guard case .folder(let part) = try open(.folder) else { throw TransferFailure(.failed, "no folder") }
        try part.prepare(behind: nil)
        try part.write(Array(archive([("x", [1, 2])]).dropLast(1024)))
    }

    @Test
    func `parts are kept for two weeks and then deleted`() throws {
        try interrupt()
        try folder.write([1], to: "in/.mine.handoff-part")
        try folder.write([1], to: "in/.a.0123456789abcdef0123456789abcdeg.handoff-part")
        _ = symlink("/etc/passwd", folder.file("in/.a.\(String(repeating: "0", count: 32)).handoff-part"))
        let found = leftovers.find(now: now)
        #expect(found.parts == 2 && found.folders == [folder.file("in")] && found.bytes > 0)
        leftovers.sweep(now: now + Leftovers.maxAge)
        #expect(leftovers.find(now: now) == found)
        leftovers.sweep(now: now + Leftovers.maxAge + 60)
        #expect(leftovers.find(now: now) == Leftovers.Found())
        #expect(shell("ls -A '\(folder.file("in"))' | wc -l") == "3\n")
        // Nothing remains to be found.
        #expect(shell("ls -A '\(folder.file("cache"))'/handoff/receiving") == "")
    }

    @Test
    func `parts in a folder whose name is not UTF-8 are found and deleted`() throws {
        let path = folder.file("in/" + String(systemBytes: Array("caf".utf8) + [0xE9]))
        try #require(mkdir(path.systemPath, 0o700) == 0)
        let destination = try Destination(output: path)
        leftovers.remember(try #require(destination.folderPath))
        let header = try #require(TransferHeader(kind: .file, name: "a", size: 9, id: try transferID(1)))
        do {
            guard case .file(let part) = try destination.open(header, from: try sender()) else {
                throw TransferFailure(.failed, "no file")
            }
            try part.prepare(offset: 0, length: 9)
            try part.write([1, 2, 3])
        }
        let found = leftovers.find(now: now)
        #expect(found.parts == 1 && found.folders == [path])
        leftovers.sweep(now: now + Leftovers.maxAge + 60)
        #expect(leftovers.find(now: now).parts == 0)
        #expect(shell("ls -A '\(folder.file("in"))'/caf* | wc -l") == "0\n")
    }

    @Test(arguments: [TransferHeader.Kind.file, .folder])
    func `a part that is being received is not deleted`(kind: TransferHeader.Kind) throws {
        let incoming = try open(kind)
        switch incoming {
        case .file(let part): try part.prepare(offset: 0, length: 9)
        case .folder(let part): try part.prepare(behind: nil)
        case .standardOutput: Issue.record("no part")
        }
        leftovers.sweep(now: now + 10 * Leftovers.maxAge)
        #expect(shell("ls -A '\(folder.file("in"))' | wc -l") == "1\n")
        #expect(leftovers.find(now: now).parts == 0)
        withExtendedLifetime(incoming) {}
    }

    @Test
    func `documents of an app that has ended are deleted, and those of a running app are kept`() throws {
        for name in ["00000000-0000-4000-8000-000000000001", "00000000-0000-4000-8000-000000000002", "not-one"] {
            _ = shell("mkdir -p '\(folder.file("cache/handoff/documents/\(name)"))/1'")
            try folder.write([], to: "cache/handoff/documents/\(name).lock")
        }
        let held = Glibc.open(folder.file("cache/handoff/documents/00000000-0000-4000-8000-000000000002.lock"), O_RDWR)
        defer { close(held) }
        #expect(flock(held, LOCK_EX) == 0)
        #expect(leftovers.find(now: now).documents == 1)
        leftovers.sweep(now: now)
        let left = shell("ls '\(folder.file("cache/handoff/documents"))' | tr '\\n' ' '")
        let other = "00000000-0000-4000-8000-000000000002"
        #expect(left == "\(other) \(other).lock not-one not-one.lock ")
    }

    @Test
    func `a fetched document is deleted 14 days after its last change, and its folder is private`() throws {
        let first = try leftovers.makeFetchedFolder(for: "a")
        #expect(try leftovers.makeFetchedFolder(for: "a") == first)
        #expect(try leftovers.makeFetchedFolder(for: "b") != first)
        #expect(shell("stat -c %a '\(first)' '\(first)'/..") == "700\n700\n")
        _ = shell("touch '\(first)/draft.txt'; mkdir '\(first)/../other'")
        // Parts in it need no record of their own.
        leftovers.remember(first)
        #expect(leftovers.find(now: now) == Leftovers.Found())
        leftovers.sweep(now: now + Leftovers.maxAge - 60)
        #expect(shell("ls '\(first)'") == "draft.txt\n")
        leftovers.sweep(now: now + Leftovers.maxAge + 60)
        #expect(shell("ls '\(folder.file("cache/handoff/fetched"))'") == "other\n")
    }

    @Test
    func `a folder that is missing is forgotten, without an error`() throws {
        leftovers.remember("/nonexistent/folder")
        #expect(leftovers.find(now: now) == Leftovers.Found())
        leftovers.sweep(now: now)
        #expect(shell("ls -A '\(folder.file("cache"))'/handoff/receiving | wc -l") == "1\n")
        leftovers.sweep(now: now + Leftovers.maxAge + 60)
        #expect(shell("ls -A '\(folder.file("cache"))'/handoff/receiving") == "")
    }
}
