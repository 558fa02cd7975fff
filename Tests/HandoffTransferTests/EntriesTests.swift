import Glibc
import HandoffModel
import LoopIO
import Testing

@testable import HandoffTransfer

/// Several files and folders that are sent as one folder.
@Suite struct EntriesTests {
    private let folder: TestFolder

    init() throws {
        folder = try TestFolder()
        for name in ["a", "b", "c"] { folder.make(name) }
    }

    private func source(_ names: [String]) throws -> SourceFile {
        try SourceFile(entriesAt: names.map(folder.file), name: "\(names.count) files")
    }

    /// Returns the archive of a source, and the omissions.
    private func packed(_ source: SourceFile) throws -> (bytes: [UInt8], omissions: TransferOmissions) {
        let archive = try source.makeArchive()
        var bytes: [UInt8] = []
        while let more = try archive.next(limit: 5000) { bytes += more }
        #expect(source.total == nil || archive.contentBytes <= source.total ?? 0)
        return (bytes, archive.omissions)
    }

    /// Receives an archive, and returns the received folder.
    private func received(_ source: SourceFile) throws -> (folder: TestFolder, omissions: TransferOmissions) {
        let target = try TestFolder()
        guard case .folder(let part) = try Destination(output: target.path).open(source.header, from: try sender())
        else { throw TransferFailure(.failed, "no folder") }
        let (bytes, omissions) = try packed(source)
        try part.write(bytes)
        #expect(try part.finish() == target.file(source.header.name ?? ""))
        return (target, omissions)
    }

    @Test func `files of several folders arrive in one folder, and equal names are numbered`() throws {
        try folder.write([1], to: "a/report.pdf")
        try folder.write([2, 2], to: "b/report.pdf")
        try folder.write([3, 3, 3], to: "c/report.pdf")
        try folder.write([4], to: "c/report (2).pdf")
        folder.make("b/sub")
        try folder.write([5], to: "b/sub/inner")
        let names = ["c/report.pdf", "b/report.pdf", "a/report.pdf", "c/report (2).pdf", "b/sub"]
        let source = try source(names)
        #expect(source.header.kind == .folder && source.header.name == "5 files" && source.total == nil)
        let (target, omissions) = try received(source)
        #expect(omissions.isEmpty)
        let found = shell("cd '\(target.file("5 files"))' && find . -type f | LC_ALL=C sort | xargs -d '\\n' wc -c")
        for line in ["1 ./report.pdf", "2 ./report (2).pdf", "1 ./report (2) (2).pdf", "3 ./report (3).pdf"] {
            #expect(found.contains(line + "\n"), "\(line): \(found)")
        }
        #expect(found.contains("1 ./sub/inner\n"))
    }

    @Test func `the archive and its id do not depend on the order of the paths`() throws {
        let names = ["a/1", "a/2", "b/1", "c/3"]
        for (index, name) in names.enumerated() { try folder.write([UInt8](repeating: 7, count: index), to: name) }
        let (first, second) = (try source(names), try source(names.reversed()))
        #expect(first.header.id == second.header.id && first.total == 6)
        #expect(try packed(first).bytes == packed(second).bytes)
        #expect(try source(Array(names.dropLast())).header.id != first.header.id)
    }

    @Test func `a name with any bytes arrives unchanged`() throws {
        let name = String(systemBytes: [0x66, 0xE9, 0x0A, 0xFF, 0x2E, 0x74])
        _ = shell("printf x > '\(folder.path)'/a/\"$(printf 'f\\351\\n\\377.t')\"")
        let source = try SourceFile(entriesAt: ["\(folder.path)/a/\(name)"], name: "files")
        let (target, omissions) = try received(source)
        #expect(omissions.isEmpty)
        #expect(shell("ls -b '\(target.file("files"))'") == "f\\351\\n\\377.t\n")
    }

    @Test func `a chosen link is followed, and one inside a chosen folder is not`() throws {
        try folder.write([1, 2, 3], to: "a/file")
        _ = shell("cd '\(folder.path)' && ln -s a/file link && ln -s a other && ln -s file a/inner")
        let (target, omissions) = try received(try source(["link", "other"]))
        #expect(target.read("2 files/link") == [1, 2, 3] && target.read("2 files/other/file") == [1, 2, 3])
        #expect(omissions.lines == ["other/inner: it is neither a file nor a folder"])
    }

    @Test func `files that disappear after the choice are omitted by name only`() throws {
        try folder.write([1], to: "a/kept")
        try folder.write([2], to: "b/deleted")
        let source = try source(["a/kept", "b/deleted"])
        _ = shell("rm '\(folder.file("b/deleted"))'")
        let (target, omissions) = try received(source)
        #expect(target.names == ["2 files"] && shell("ls '\(target.file("2 files"))'") == "kept\n")
        #expect(omissions.lines == ["deleted: it cannot be opened: no such file or directory"])
    }

    @Test(arguments: ["a/repo", ".git"])
    func `repositories among the entries are detected`(name: String) throws {
        folder.make(name)
        if name != ".git" { folder.make("\(name)/.git") }
        #expect(try source([name]).header.hasRepository)
        #expect(try !source(["b", "c"]).header.hasRepository)
    }

    @Test func `the bytes that were read are counted as they are read`() throws {
        try folder.write([UInt8](repeating: 1, count: 100_000), to: "a/big")
        let archive = try source(["a/big"]).makeArchive()
        _ = try archive.next(limit: 5000)
        #expect(archive.contentBytes > 0 && archive.contentBytes < 10_000)
    }

    @Test func `many equal names are numbered in linear time`() throws {
        // Quadratic numbering would take minutes.
        let paths = (0..<100_000).map { "/nonexistent/\($0)/same.txt" }
        let names = Set(SourceEntry.entries(of: paths).map(\.name))
        #expect(names.count == paths.count)
    }
}
