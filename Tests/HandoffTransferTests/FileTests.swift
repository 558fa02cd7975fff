import Glibc
import HandoffModel
import HandoffTestSupport
import LoopIO
import Testing

@testable import HandoffTransfer

private func header(
    _ kind: TransferHeader.Kind = .file, name: String? = "a.txt", size: Int64? = 5, id: UInt8? = 1,
    mode: UInt32? = 0o644,
    modified: Int64? = 1_700_000_000
) throws -> TransferHeader {
    try #require(
        TransferHeader(
            kind: kind, name: name, size: kind == .file ? size : nil, id: try id.map { try transferID($0) }, mode: mode,
            modified: modified))
}

private func open(
    _ output: String, _ header: TransferHeader, isForced: Bool = false, calls: KernelCalls = KernelCalls()
) throws -> PartFile {
    let destination = try Destination(output: output, isForced: isForced, calls: calls)
    guard case .file(let part) = try destination.open(header, from: try sender()) else {
        throw TransferFailure(.failed, "no file")
    }
    return part
}

private func openFailure(
    _ output: String, _ header: TransferHeader, isForced: Bool = false
) throws -> TransferFailure? {
    let device = try sender()
    return failure { () throws(TransferFailure) in
        _ = try Destination(output: output, isForced: isForced).open(header, from: device)
    }
}

@Suite struct FileTests {
    @Test
    func `a file gets its name, mode and time only once it is complete`() throws {
        let folder = try TestFolder()
        let part = try open(folder.path, try header(mode: 0o6755))
        #expect(part.resumable == 0)
        try part.prepare(offset: 0, length: 5)
        try part.write([1, 2])
        let hidden = folder.names
        #expect(hidden.count == 1 && hidden.first?.wholeMatch(of: /\.a\.txt\.[0-9a-f]{32}\.handoff-part/) != nil)
        #expect(folder.mode(hidden[0]) == 0o600)
        try part.write([3, 4, 5])
        #expect(try part.finish() == folder.file("a.txt"))
        #expect(folder.names == ["a.txt"])
        #expect(folder.read("a.txt") == [1, 2, 3, 4, 5])
        #expect(folder.mode("a.txt") == 0o755)
        #expect(shell("stat -c %Y '\(folder.file("a.txt"))'") == "1700000000\n")
    }

    @Test(arguments: [0, 1, 4, 5])
    func `an interrupted transfer finds its part, of any size, and continues`(have: Int) throws {
        let folder = try TestFolder()
        let content: [UInt8] = [1, 2, 3, 4, 5]
        do {
            let part = try open(folder.path, try header())
            try part.prepare(offset: 0, length: 5)
            try part.write(Array(content.prefix(have)))
        }
        // Nothing is left of an unusable part.
        #expect(folder.names.count == (have == 0 ? 0 : 1))
        let part = try open(folder.path, try header())
        #expect(part.resumable == Int64(have))
        try part.prepare(offset: Int64(have), length: Int64(5 - have))
        try part.write(Array(content.dropFirst(have)))
        try part.finish()
        #expect(folder.read("a.txt") == content)
    }

    @Test
    func `another content and another device do not continue it, and a larger part is not a beginning`() throws {
        let folder = try TestFolder()
        do {
            let part = try open(folder.path, try header())
            try part.prepare(offset: 0, length: 5)
            try part.write([1, 2, 3])
        }
        #expect(try open(folder.path, try header(id: 2)).resumable == 0)
        #expect(try open(folder.path, try header(size: 2)).resumable == 0)
        let other = try #require(DeviceID(hex: String(repeating: "0b", count: 32)))
        guard case .file(let part) = try Destination(output: folder.path).open(try header(), from: other) else {
            return
        }
        #expect(part.resumable == 0)
        #expect(try open(folder.path, try header()).resumable == 3)
    }

    @Test(arguments: [TransferHeader.Kind.file, .stream])
    func `content that can never be continued leaves nothing behind`(kind: TransferHeader.Kind) throws {
        let folder = try TestFolder()
        do {
            let part = try open(folder.path, try header(kind, id: nil))
            try part.prepare(offset: 0, length: nil)
            try part.write([1])
            #expect(folder.names.count == 1)
        }
        #expect(folder.names.isEmpty)
    }

    @Test
    func `two receivers do not share a part`() throws {
        let folder = try TestFolder()
        let first = try open(folder.path, try header())
        #expect(try openFailure(folder.path, try header())?.reason == .busy)
        first.discard()
        #expect(folder.names.isEmpty)
    }

    @Test
    func `a part that is a link, a pipe or a second name is not touched`() throws {
        let folder = try TestFolder()
        let part = try open(folder.path, try header())
        let name = try #require(folder.names.first)
        part.discard()
        try folder.write([9], to: "other")
        for command in ["ln -s other", "ln other", "mkfifo", "mkdir"] {
            _ = shell("cd '\(folder.path)' && \(command) '\(name)'")
            #expect(folder.names.count == 2, "\(command)")
            #expect(try openFailure(folder.path, try header())?.reason == .unreadable, "\(command)")
            _ = shell("cd '\(folder.path)' && rm -r '\(name)'")
        }
        #expect(folder.read("other") == [9])
    }

    @Test
    func `a file with the sender's name is never replaced, even if it appears late`() throws {
        let folder = try TestFolder()
        try folder.write([9], to: "a.txt")
        let part = try open(folder.path, try header())
        try part.prepare(offset: 0, length: 5)
        try part.write([1, 2, 3, 4, 5])
        // Appears late.
        try folder.write([8], to: "a (2).txt")
        #expect(try part.finish() == folder.file("a (3).txt"))
        #expect(folder.read("a.txt") == [9])
        #expect(folder.read("a (2).txt") == [8])
        #expect(folder.read("a (3).txt") == [1, 2, 3, 4, 5])
        #expect(folder.names.count == 3)
    }

    @Test(arguments: [
        ("report.pdf", false, "report (2).pdf"), ("report", false, "report (2)"), (".bashrc", false, ".bashrc (2)"),
        ("a.tar.gz", false, "a.tar (2).gz"), ("v1.5", true, "v1.5 (2)"), ("a.", false, "a (2)."),
    ])
    func `the number precedes the extension`(name: String, isFolder: Bool, numbered: String) {
        #expect(FileName.numbered(name, 2, isFolder: isFolder) == numbered)
    }

    @Test(arguments: [String(repeating: "é", count: 127), "a." + String(repeating: "x", count: 253)])
    func `a number fits into the longest name`(name: String) {
        let numbered = FileName.numbered(name, 9999, isFolder: false)
        #expect(numbered.utf8.count <= 255 && numbered.contains(" (9999)"))
    }

    @Test
    func `a file named by the user is replaced only with force, and only by a complete one`() throws {
        let folder = try TestFolder()
        let path = try folder.write([9], to: "mine", mode: 0o600)
        let refused = try openFailure(path, try header())
        #expect(refused?.reason == .exists && refused?.message.contains("--force") == true)
        let part = try open(path, try header(name: "../../evil"), isForced: true)
        try part.prepare(offset: 0, length: 5)
        try part.write([1, 2, 3, 4])
        #expect(folder.read("mine") == [9])
        try part.write([5])
        #expect(try part.finish() == path)
        #expect(folder.read("mine") == [1, 2, 3, 4, 5])
        #expect(folder.names == ["mine"])
    }

    @Test
    func `a link to a file is kept, and a dangling link or anything but a file is refused`() throws {
        let folder = try TestFolder()
        try folder.write([9], to: "mine")
        _ = shell("cd '\(folder.path)' && ln -s mine link && ln -s nothing dangling && mkfifo pipe")
        let part = try open(folder.file("link"), try header(), isForced: true)
        try part.prepare(offset: 0, length: 5)
        try part.write([1])
        try part.finish()
        #expect(folder.read("mine") == [1])
        #expect(shell("readlink '\(folder.file("link"))'") == "mine\n")
        #expect(try openFailure(folder.file("dangling"), try header())?.reason == .unreadable)
        #expect(try openFailure(folder.file("pipe"), try header())?.reason == .exists)
        #expect(try openFailure("/dev/null", try header())?.reason == .exists)
        #expect(try openFailure(folder.file("none/"), try header())?.reason == .unreadable)
        #expect(try openFailure(folder.file("none/a"), try header())?.reason == .unreadable)
        #expect(try openFailure("", try header())?.reason == .unreadable)
        #expect(try openFailure(folder.file("pipe"), try header(), isForced: true)?.reason == .exists)
    }

    @Test(arguments: ["Documents", "My Files", "v1.5", ".config", "2026.11.25", "a.very-long-and-strange"])
    func `no file is created in place of a missing folder`(name: String) throws {
        let folder = try TestFolder()
        for kind in [TransferHeader.Kind.file, .stream] {
            let refused = try openFailure(folder.file(name), try header(kind))
            #expect(refused?.reason == .unreadable)
            #expect(refused?.message.contains("no such folder") == true)
        }
        #expect(folder.names.isEmpty)
        #expect(try openFailure(folder.file(name), try header(.folder)) == nil)
        let part = try open(folder.file(name), try header(), isForced: true)
        try part.prepare(offset: 0, length: nil)
        try part.finish()
        #expect(folder.names == [name])
    }

    @Test
    func `a file that appears late is replaced only with force`() throws {
        let folder = try TestFolder()
        let late = try open(folder.file("a.txt"), try header())
        try late.prepare(offset: 0, length: 5)
        try folder.write([9], to: "a.txt")
        #expect(failure { () throws(TransferFailure) in try late.finish() }?.reason == .exists)
        #expect(folder.read("a.txt") == [9])
        late.discard()
        let forced = try open(folder.file("b"), try header(), isForced: true)
        try forced.prepare(offset: 0, length: 5)
        try folder.write([9], to: "b")
        try forced.finish()
        #expect(folder.read("b") == [])
    }

    @Test
    func `a folder never replaces anything`() throws {
        let folder = try TestFolder()
        try folder.write([9], to: "mine")
        for isForced in [false, true] {
            #expect(try openFailure(folder.file("mine"), try header(.folder), isForced: isForced)?.reason == .exists)
        }
    }

    @Test
    func `nothing is started if there is not enough space`() throws {
        let folder = try TestFolder()
        let part = try open(folder.path, try header(size: 1 << 62))
        let full = failure { () throws(TransferFailure) in try part.prepare(offset: 0, length: 1 << 62) }
        #expect(full?.reason == .full)
        #expect(full?.message.contains(folder.path) == true)
    }

    @Test
    func `a file beyond 4 GiB continues at the right offset`() throws {
        let folder = try TestFolder()
        let size: Int64 = 5 << 30
        let part = try open(folder.path, try header(size: size))
        let name = try #require(folder.names.first)
        _ = shell("truncate -s \(size - 3) '\(folder.file(name))'")
        try part.prepare(offset: size - 3, length: 3)
        try part.write([1, 2, 3])
        #expect(lseek(part.number, 0, SEEK_CUR) == Int(size))
        try part.finish()
        #expect(shell("stat -c %s '\(folder.file("a.txt"))'") == "\(size)\n")
        #expect(shell("tail -c 3 '\(folder.file("a.txt"))' | od -An -tu1") == "   1   2   3\n")
    }

    @Test
    func `a limit on file sizes ends it with a clear error, and the part is kept for the next attempt`() throws {
        let folder = try TestFolder()
        // Far beyond the files of other tests, because the limit applies to the whole process.
        let limit: Int64 = 1 << 42
        signal(SIGXFSZ, SIG_IGN)
        let part = try open(folder.path, try header(size: limit + 100))
        let name = try #require(folder.names.first)
        _ = shell("truncate -s \(limit - 10) '\(folder.file(name))'")
        try #require(lseek(part.number, 0, SEEK_END) == Int(limit - 10))
        var limits = rlimit()
        getrlimit(__rlimit_resource_t(1), &limits)
        let before = limits
        limits.rlim_cur = UInt(limit)
        try #require(setrlimit(__rlimit_resource_t(1), &limits) == 0)
        defer { _ = withUnsafePointer(to: before) { setrlimit(__rlimit_resource_t(1), $0) } }
        let full = failure { () throws(TransferFailure) in try part.write([UInt8](repeating: 1, count: 100)) }
        #expect(full?.reason == .full)
        #expect(folder.names == [name])
    }

    @Test(.enabled(if: TinyDisk.isPossible))
    func `a full disk ends it with a clear error, with nothing under the final name`() throws {
        let disk = try TinyDisk()
        for kind in [TransferHeader.Kind.file, .stream, .folder] {
            let incoming = try Destination(output: disk.folder.path).open(
                try header(kind, size: 10), from: try sender())
            let bytes = [UInt8](repeating: 1, count: 200_000)
            let full: TransferFailure?
            switch incoming {
            case .file(let part):
                try part.prepare(offset: 0, length: kind == .file ? 10 : nil)
                if kind == .file {
                    let early = failure { () throws(TransferFailure) in try part.prepare(offset: 0, length: 200_000) }
                    #expect(early?.reason == .full)
                }
                full = failure { () throws(TransferFailure) in try part.write(bytes) }
            case .folder(let part):
                full = failure { () throws(TransferFailure) in try part.write(archive([("a", bytes)])) }
            case .standardOutput: full = nil
            }
            #expect(full?.reason == .full, "\(kind)")
            #expect(disk.folder.names.allSatisfy { $0.hasPrefix(".") && $0.hasSuffix(".handoff-part") })
        }
    }

    @Test
    func `the name of the part fits, whatever the file name, and is valid UTF-8`() throws {
        let folder = try TestFolder()
        let name = String(repeating: "ä", count: 127)
        let part = try open(folder.path, try header(name: name))
        #expect(folder.names.allSatisfy { $0.utf8.count <= 255 && !$0.contains("\u{FFFD}") })
        try part.prepare(offset: 0, length: nil)
        try part.finish()
        #expect(folder.names == [name])
    }

    @Test(arguments: [
        (".env", "_.env"), (".bashrc", "_.bashrc"), ("...", "_..."), ("-rf", "_-rf"), ("- draft.txt", "_- draft.txt"),
        ("\u{200E}IMG-2026.jpg", "IMG-2026.jpg"), ("שלום\u{200F}.pdf", "שלום.pdf"), ("so\u{AD}ft", "soft"),
        ("a\nb", "a_b"), ("a\u{1B}[31m", "a_[31m"), ("a\u{7F}", "a_"), ("a\u{85}b", "a_b"),
        ("gpj.\u{202E}exe", "gpj.exe"), ("a\u{2066}b", "ab"), ("a\u{FEFF}", "a"), ("a\u{2028}b", "ab"),
        ("\u{200E}", "_"), ("\u{200E}.bashrc", "_.bashrc"), ("\u{202E}..", "_.."),
        (".a.handoff-part", "_.a.handoff-part"),
        ("bill.pdf\u{2800}\u{2800}\u{2800}\u{2800}.exe", "bill.pdf .exe"),
        ("bill.pdf\u{A0}\u{3000}.exe", "bill.pdf .exe"), ("bill.pdf          .exe", "bill.pdf .exe"),
        // Scalars that represent bytes of invalid UTF-8, here those of U+202E.
        ("bill\u{10FEE2}\u{10FE80}\u{10FEAE}fdp.exe", "billfdp.exe"),
        (String(repeating: "é", count: 127) + "\n", String(repeating: "é", count: 127) + "_"),
        ("." + String(repeating: "x", count: 250) + ".txt", "_." + String(repeating: "x", count: 249) + ".txt"),
    ])
    func `a misleading name gets a usable replacement, with the reason`(sent: String, name: String) throws {
        let folder = try TestFolder()
        let part = try open(folder.path, try header(name: sent))
        try part.prepare(offset: 0, length: nil)
        #expect(try part.finish() == folder.file(name))
        #expect(folder.names == [name])
        #expect(part.remarks.count == 1)
        #expect(part.remarks.allSatisfy { $0.contains("is not used: it ") })
        #expect(part.remarks.allSatisfy { $0.unicodeScalars.allSatisfy { !VisibleText.isHidden($0) } })
    }

    @Test
    func `a name that the file system refuses becomes a portable one`() throws {
        let folder = try TestFolder()
        var calls = KernelCalls()
        calls.nameError = { $0.contains(UInt8(ascii: ":")) ? .invalidArgument : nil }
        for expected in ["10_30 _all_.txt", "10_30 _all_ (2).txt"] {
            let part = try open(folder.path, try header(name: "10:30 <all>.txt"), calls: calls)
            try part.prepare(offset: 0, length: nil)
            #expect(try part.finish() == folder.file(expected))
            #expect(part.remarks.count == 1)
        }
    }

    @Test(arguments: [
        ("a.", "a._"), ("a ", "a _"), ("con", "_con"), ("LPT1.txt", "_LPT1.txt"), ("console", "console"),
        ("a|b", "a_b"),
        ("日本語", "日本語"),
    ])
    func `a portable name contains nothing that a file system refuses`(name: String, portable: String) {
        #expect(FileName.portable(name.utf8) == portable)
    }

    @Test
    func `a name in Latin-1 is decoded, and a long one is cut before its extension`() {
        #expect(FileName.portable([0x63, 0x61, 0x66, 0xE9]) == "café")
        let long = FileName.portable((String(repeating: "ä", count: 200) + ".pdf").utf8)
        #expect(long.utf8.count <= 143 && long.hasSuffix("ä.pdf"))
    }

    @Test
    func `a file arrives where permissions cannot be set, and that is reported once`() throws {
        let folder = try TestFolder()
        var calls = KernelCalls()
        calls.setsModes = false
        let part = try open(folder.path, try header(), calls: calls)
        try part.prepare(offset: 0, length: 5)
        try part.write([1])
        #expect(try part.finish() == folder.file("a.txt"))
        #expect(part.remarks.count == 1 && part.remarks[0].contains("permissions"))
    }

    @Test(arguments: ["", ".", "..", "/", "/etc/passwd", "../a", "a/b", "a/", "a\u{0}b"])
    func `an invalid name is refused with a reason, and nothing is created`(name: String) throws {
        let folder = try TestFolder()
        let refused = try #require(try openFailure(folder.path, try header(name: name)))
        #expect(refused.reason == .name)
        #expect(refused.message.unicodeScalars.allSatisfy { !VisibleText.isHidden($0) })
        #expect(folder.names.isEmpty)
    }

    @Test(arguments: ["a", "a b.txt", "ä", "日本語.pdf", "👨‍👩‍👧.png", "a..b", "a-", "~", "*", "'\"$(x)"])
    func `valid names are used unchanged`(name: String) throws {
        let folder = try TestFolder()
        let part = try open(folder.path, try header(name: name))
        try part.prepare(offset: 0, length: nil)
        #expect(try part.finish() == folder.file(name))
        #expect(folder.read(name) == [])
    }

    @Test
    func `without a sender's name the user must choose one`() throws {
        let folder = try TestFolder()
        #expect(try openFailure(folder.path, try header(.stream, name: nil))?.reason == .name)
        #expect(try openFailure(folder.file("mine.txt"), try header(.stream, name: nil)) == nil)
    }

    @Test
    func `standard output receives content as it arrives`() throws {
        let destination = try Destination(output: "-")
        #expect(destination.route == .inline)
        guard case .standardOutput = try destination.open(try header(name: "/"), from: try sender()) else {
            Issue.record("it makes a file")
            return
        }
    }

    @Test
    func `a name is given only once, even if the file system cannot do it in one step`() throws {
        let folder = try TestFolder()
        var calls = KernelCalls()
        calls.renamesOnlyNew = false
        let part = try open(folder.path, try header(), calls: calls)
        try part.prepare(offset: 0, length: 1)
        try part.write([1])
        try folder.write([9], to: "a.txt")
        #expect(try part.finish() == folder.file("a (2).txt"))
        #expect(folder.names.sorted() == ["a (2).txt", "a.txt"])
        #expect(folder.read("a.txt") == [9] && folder.read("a (2).txt") == [1])
    }
}

/// A file system of 64 KiB. Requires root.
private final class TinyDisk {
    static let isPossible: Bool = (try? TinyDisk()) != nil

    let folder: TestFolder

    init() throws {
        folder = try TestFolder()
        try #require(geteuid() == 0)
        _ = shell("mount -t tmpfs -o size=64k none '\(folder.path)' 2>/dev/null")
        try #require(shell("findmnt -no FSTYPE '\(folder.path)'") == "tmpfs\n")
    }

    deinit {
        _ = shell("umount -l '\(folder.path)'")
    }
}

/// Returns an archive of files as the sender creates it.
func archive(_ files: [(name: String, content: [UInt8])]) -> [UInt8] {
    var bytes: [UInt8] = []
    for file in files {
        let components = file.name.split(separator: "/", omittingEmptySubsequences: false).map { Array($0.utf8) }
        let entry = TarEntry(
            kind: .file, components: components, size: Int64(file.content.count), mode: 0o644, modified: 1_700_000_000)
        bytes += entry.encoded() + file.content
        bytes += [UInt8](repeating: 0, count: (512 - file.content.count % 512) % 512)
    }
    return bytes + [UInt8](repeating: 0, count: 1024)
}
