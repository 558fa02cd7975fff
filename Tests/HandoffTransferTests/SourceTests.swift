import Glibc
import HandoffModel
import HandoffTransfer
import Testing

@Suite struct SourceTests {
    @Test
    func `the header describes the file, and the id is stable until the file changes`() throws {
        let folder = try TestFolder()
        let path = try folder.write([1, 2, 3], to: "a.txt", mode: 0o4750)
        _ = shell("touch -d @1600000000.5 '\(path)'")
        let first = try SourceFile(path)
        #expect(first.header.kind == .file && first.header.name == "a.txt" && first.header.size == 3)
        #expect(first.header.mode == 0o750 && first.header.modified == 1_600_000_000)
        let id = try #require(first.header.id)
        #expect(try SourceFile(path).header.id == id)
        #expect(try SourceFile("\(folder.path)/./a.txt").header.id == id)
        _ = shell("ln -s a.txt '\(folder.file("link"))'")
        let link = try SourceFile(folder.file("link"))
        #expect(link.header.id == id && link.header.name == "link")
        #expect(try SourceFile(path, name: "other").header.name == "other")
        _ = shell("touch -d @1600000000.6 '\(path)'")
        #expect(try SourceFile(path).header.id != id)
    }

    @Test(arguments: [
        "echo x >> F", "truncate -s 0 F", "touch F", "printf yyy > F; touch -d @1600000000 F",
    ])
    func `a change is detected, even if size and time are the same`(command: String) throws {
        let folder = try TestFolder()
        let path = try folder.write([1, 2, 3], to: "a")
        _ = shell("touch -d @1600000000 '\(path)'")
        let source = try SourceFile(path)
        try source.requireUnchanged()
        _ = shell(command.replacing("F", with: "'\(path)'"))
        #expect(failure { () throws(TransferFailure) in try source.requireUnchanged() }?.reason == .changed)
    }

    @Test
    func `reading it changes nothing`() throws {
        let folder = try TestFolder()
        let path = try folder.write([1, 2, 3], to: "a")
        let source = try SourceFile(path)
        try source.seek(to: 1)
        var bytes = [UInt8](repeating: 0, count: 9)
        #expect(read(source.number, &bytes, 9) == 2)
        try source.requireUnchanged()
    }

    @Test
    func `folders and standard input have no size, and the id of a folder stays when its content changes`() throws {
        let folder = try TestFolder()
        folder.make("pictures", mode: 0o750)
        let source = try SourceFile(folder.file("pictures/"))
        #expect(source.header.kind == .folder && source.header.name == "pictures" && source.header.mode == 0o750)
        #expect(source.header.size == nil && source.header.id != nil)
        try folder.write([1], to: "pictures/a")
        #expect(try SourceFile(folder.file("pictures")).header.id == source.header.id)
        #expect(try SourceFile(folder.file("pictures/.")).header.name == "pictures")
        #expect(try SourceFile("/").header.name == nil)
        let input = try SourceFile("-", name: "x")
        #expect(input.header.kind == .stream && input.header.name == "x" && input.header.size == nil)
        #expect(input.header.id == nil)
    }

    @Test(arguments: ["/proc/version", "/sys/kernel/mm/transparent_hugepage/enabled"])
    func `a file whose size differs from that of its content is read to the end`(path: String) throws {
        try #require(access(path, R_OK) == 0)
        let expected = Array(shell("cat '\(path)'").utf8)
        let source = try SourceFile(path)
        #expect(source.header.kind == .stream && source.header.size == nil && source.header.id == nil)
        #expect(source.header.name == path.split(separator: "/").last.map(String.init))
        var content: [UInt8] = []
        while let bytes = try source.read(limit: 7), !bytes.isEmpty { content += bytes }
        #expect(content == expected && !content.isEmpty)
    }

    @Test(arguments: ["mkfifo F", "true", "mknod F c 1 3 || mkfifo F"])
    func `an unsupported source is refused, without waiting for a pipe`(command: String) throws {
        let folder = try TestFolder()
        _ = shell(command.replacing("F", with: "'\(folder.file("a"))'"))
        let refused = failure { () throws(TransferFailure) in _ = try SourceFile(folder.file("a")) }
        #expect(refused?.reason == .unreadable)
        #expect(refused?.message.hasPrefix("cannot send \(folder.file("a")): ") == true)
    }
}
