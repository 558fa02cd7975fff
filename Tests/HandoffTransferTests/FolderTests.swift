import Glibc
import HandoffModel
import LoopIO
import Testing

@testable import HandoffTransfer

private func open(
    _ output: String, name: String? = "tree", mode: UInt32 = 0o755, limits: TarLimits = .standard,
    calls: KernelCalls = KernelCalls(), id: TransferID? = nil
) throws -> PartFolder {
    let header = try #require(
        TransferHeader(kind: .folder, name: name, id: id, mode: mode, modified: 1_500_000_000))
    guard
        case .folder(let part) = try Destination(output: output, calls: calls).open(
            header, from: try sender(), limits: limits)
    else {
        throw TransferFailure(.failed, "no folder")
    }
    return part
}

/// Returns the archive of a folder, and the omissions.
private func packed(_ path: String, limit: Int = 5000) throws -> (bytes: [UInt8], notes: [String]) {
    let (bytes, notes, _) = try packedWithOmissions(path, limit: limit)
    return (bytes, notes)
}

private func packedWithOmissions(
    _ path: String, limit: Int = 5000
) throws -> (bytes: [UInt8], notes: [String], omissions: TransferOmissions) {
    let writer = try SourceFile(path).makeArchive()
    var bytes: [UInt8] = []
    while let more = try writer.next(limit: limit) { bytes += more }
    #expect(try writer.next(limit: limit) == nil)
    return (bytes, writer.takeNotes(), writer.omissions)
}

/// Writes an archive to a part in random pieces.
private func feed(_ bytes: [UInt8], to part: PartFolder, seed: UInt64 = 1) throws(TransferFailure) {
    var random = SeededRandom(state: seed)
    var left = bytes[...]
    while !left.isEmpty {
        let piece = left.prefix(Int.random(in: 1...1500, using: &random))
        left = left.dropFirst(piece.count)
        try part.write(Array(piece))
    }
}

/// Creates a tree with typical content.
private func makeTree() throws -> TestFolder {
    let folder = try TestFolder()
    folder.make("t")
    folder.make("t/empty", mode: 0o700)
    folder.make("t/.hidden")
    try folder.write([1, 2, 3], to: "t/.hidden/.file", mode: 0o600)
    try folder.write([], to: "t/nothing")
    try folder.write([UInt8](repeating: 1, count: 512), to: "t/block", mode: 0o4755)
    try folder.write([UInt8](repeating: 2, count: 513), to: "t/block and one", mode: 0o444)
    var random = SeededRandom(state: 5)
    try folder.write(random.bytes(100_000), to: "t/ü \u{1F600}.bin")
    folder.make("t/readonly")
    try folder.write([7], to: "t/readonly/a")
    let long = String(repeating: "n", count: 255)
    try folder.write([4], to: "t/\(long)")
    var deep = "t"
    for depth in 0..<20 {
        deep += "/folder number \(depth)"
        folder.make(deep)
    }
    try folder.write([5], to: "\(deep)/bottom")
    let middle = String(repeating: "m", count: 90)
    folder.make("t/\(middle)")
    try folder.write([6], to: "t/\(middle)/\(middle)")
    _ = shell(
        """
        cd '\(folder.file("t"))' && find . -exec touch -h -d @1400000000 {} + && touch -d @-100 nothing
        chmod 555 readonly; touch -d @1400000001 readonly
        """)
    return folder
}

@Suite struct FolderTests {
    @Test(arguments: [1, 512, 5000, 1 << 20])
    func `a tree arrives unchanged, with modes and times`(limit: Int) throws {
        let source = try makeTree()
        let (bytes, notes) = try packed(source.file("t"), limit: limit)
        #expect(notes.isEmpty && bytes.count % 512 == 0)
        let target = try TestFolder()
        let part = try open(target.path)
        try feed(bytes, to: part, seed: UInt64(limit))
        #expect(target.names.allSatisfy { $0.hasPrefix(".tree.") && $0.hasSuffix(".handoff-part") })
        #expect(try part.finish() == target.file("tree"))
        #expect(target.names == ["tree"])
        // Only permissions are used.
        let expected = source.listing("t").replacing("block f 4755", with: "block f 755")
        #expect(target.listing("tree") == expected)
        #expect(shell("stat -c '%a %Y' '\(target.file("tree"))'") == "755 1500000000\n")
    }

    @Test(.enabled(if: shell("tar --version").contains("GNU")))
    func `GNU tar unpacks what the writer makes`() throws {
        let source = try makeTree()
        let (bytes, _) = try packed(source.file("t"))
        let target = try TestFolder()
        try target.write(bytes, to: "a.tar")
        target.make("tree")
        #expect(
            shell("tar -tf '\(target.file("a.tar"))' 2>&1 | wc -l")
                == shell("find '\(source.file("t"))' -mindepth 1 | wc -l"))
        #expect(shell("cd '\(target.file("tree"))' && tar --warning=no-timestamp -xpf ../a.tar 2>&1") == "")
        let expected = source.listing("t").replacing("block f 4755", with: "block f 755")
        #expect(target.listing("tree") == expected)
    }

    @Test
    func `links and pipes are left out and reported with their count`() throws {
        let folder = try TestFolder()
        folder.make("t")
        try folder.write([1], to: "t/kept")
        _ = shell("cd '\(folder.file("t"))' && ln -s /etc/passwd link && ln -s .. up && mkfifo pipe")
        let (bytes, notes, omissions) = try packedWithOmissions(folder.file("t"))
        #expect(notes.count == 3)
        #expect(omissions.count == 3)
        #expect(omissions.lines.map { $0.prefix { $0 != ":" } } == ["link", "pipe", "up"])
        #expect(notes.allSatisfy { $0.hasPrefix(folder.file("t/")) && $0.contains("is left out: ") })
        #expect(notes.allSatisfy { $0.unicodeScalars.allSatisfy { !VisibleText.isHidden($0) } })
        let target = try TestFolder()
        let part = try open(target.path)
        try part.write(bytes)
        try part.finish()
        #expect(shell("ls -A '\(target.file("tree"))'") == "kept\n")
    }

    @Test
    func `names arrive unchanged, whatever their bytes`() throws {
        let folder = try TestFolder()
        folder.make("t")
        _ = shell(
            """
            cd '\(folder.file("t"))' && for name in '-rf' '--' 'line\\nfeed' 'latin\\351' '\\342\\200\\216LRM' \
                'so\\302\\255ft' 'esc\\033[2J' 'gpj.\\342\\200\\256exe' '~' ' ' 'a:b' '\\377' '\\001'
            do mkdir -- "$(printf -- "d $name")" && printf x > "./$(printf -- "d $name")/$(printf -- "$name")"
            done
            """)
        let (bytes, notes, omissions) = try packedWithOmissions(folder.file("t"))
        #expect(notes.isEmpty && omissions.isEmpty)
        let target = try TestFolder()
        let part = try open(target.path)
        try part.write(bytes)
        try part.finish()
        #expect(part.remarks.isEmpty)
        let names = "find . -mindepth 1 -print0 | LC_ALL=C sort -z | od -An -c"
        let expected = shell("cd '\(folder.file("t"))' && \(names)")
        #expect(shell("cd '\(target.file("tree"))' && \(names)") == expected)
        #expect(
            shell("find '\(target.file("tree"))' -type f | wc -l")
                == shell("find '\(folder.file("t"))' -type f | wc -l"))
        #expect(shell("find '\(target.file("tree"))' -name x -o -type f -size 1c | grep -c .") != "0\n")
    }

    @Test
    func `a name that the file system refuses is replaced, as is the path of a folder's content`() throws {
        let folder = try TestFolder()
        folder.make("t")
        folder.make("t/a:b")
        try folder.write([1], to: "t/a:b/x:y.txt")
        try folder.write([2], to: "t/a:b/x_y.txt")
        folder.make("t/a:b/plain")
        try folder.write([3], to: "t/a:b/plain/z")
        let target = try TestFolder()
        var calls = KernelCalls()
        calls.nameError = { $0.contains(UInt8(ascii: ":")) ? .invalidArgument : nil }
        let part = try open(target.path, calls: calls)
        try part.write(try packed(folder.file("t")).bytes)
        try part.finish()
        #expect(target.names == ["tree"])
        #expect(
            shell("cd '\(target.file("tree"))' && find . -type f | LC_ALL=C sort")
                == "./a_b/plain/z\n./a_b/x_y (2).txt\n./a_b/x_y.txt\n")
        // The folder, and the two files whose names become equal.
        #expect(part.remarks.count == 3)
        #expect(part.remarks.allSatisfy { $0.hasPrefix("the file system refuses a name: a:b") })
    }

    @Test
    func `two names that are equal for the file system both arrive, as do names that are too long for it`() throws {
        let folder = try TestFolder()
        for name in ["README", "readme"] {
            folder.make("t")
            folder.make("t/\(name)")
            try folder.write(Array(name.utf8), to: "t/\(name)/\(name)")
        }
        let long = String(repeating: "ä", count: 100)
        try folder.write([1], to: "t/\(long).txt")
        let target = try TestFolder()
        var calls = KernelCalls()
        calls.nameError = { $0.elementsEqual("readme".utf8) ? .exists : $0.count > 143 ? .nameTooLong : nil }
        let part = try open(target.path, calls: calls)
        try part.write(try packed(folder.file("t")).bytes)
        try part.finish()
        #expect(target.read("tree/README/README") == Array("README".utf8))
        #expect(target.read("tree/readme (2)/readme (2)") == Array("readme".utf8))
        #expect(target.read("tree/\(long.prefix(66)).txt") == [1])
        #expect(part.remarks.count == 3)
    }

    @Test
    func `a folder arrives where permissions cannot be set, and that is reported once`() throws {
        let source = try makeTree()
        let target = try TestFolder()
        var calls = KernelCalls()
        calls.setsModes = false
        let part = try open(target.path, calls: calls)
        try part.write(try packed(source.file("t")).bytes)
        #expect(try part.finish() == target.file("tree"))
        #expect(part.remarks.count == 1 && part.remarks[0].contains("permissions"))
    }

    @Test
    func `folders nested beyond the limit are left out, without an error`() throws {
        let folder = try TestFolder()
        folder.make("t")
        _ = shell("cd '\(folder.file("t"))' && mkdir -p \"$(printf 'd/%.0s' $(seq 200))\"")
        let (bytes, notes) = try packed(folder.file("t"))
        #expect(notes.count == 1)
        let target = try TestFolder()
        let part = try open(target.path)
        try part.write(bytes)
        try part.finish()
        #expect(shell("find '\(target.file("tree"))' -mindepth 1 | wc -l") == "128\n")
    }

    @Test(arguments: ["truncate -s 3 F", "echo x >> F"])
    func `a file that changes while it is read ends the archive`(command: String) throws {
        let folder = try TestFolder()
        folder.make("t")
        let path = try folder.write([UInt8](repeating: 1, count: 100_000), to: "t/a")
        _ = shell("touch -d @1400000000 '\(path)'")
        let writer = try SourceFile(folder.file("t")).makeArchive()
        _ = try writer.next(limit: 1000)
        _ = shell(command.replacing("F", with: "'\(path)'"))
        let changed = failure { () throws(TransferFailure) in while try writer.next(limit: 1000) != nil {} }
        #expect(changed?.reason == .changed)
    }

    @Test
    func `a size of 8 GiB or more and extreme times use an extended header`() throws {
        for (size, modified) in [(8 << 30, 0), (8 << 30 - 1, -1), (1 << 62, 1 << 40), (0, 8 << 30)] as [(Int64, Int64)]
        {
            let entry = TarEntry(kind: .file, components: [[0x61]], size: size, mode: 0o600, modified: modified)
            var parser = TarParser(limits: TarLimits(bytes: .max, entries: 1))
            var seen: TarEntry?
            try parser.parse(entry.encoded()) { (event) throws(TransferFailure) in
                if case .entry(let entry) = event { seen = entry }
            }
            #expect(seen == entry)
        }
        let folder = try TestFolder()
        let entry = TarEntry(kind: .file, components: [[0x61]], size: 9 << 30, mode: 0o600, modified: 1)
        try folder.write(entry.encoded(), to: "a.tar")
        #expect(shell("tar -tvf '\(folder.file("a.tar"))' 2>/dev/null").contains(" 9663676416 "))
    }

    @Test
    func `a folder that fails leaves nothing, and one whose receiver was killed starts again`() throws {
        let target = try TestFolder()
        do {
            let part = try open(target.path)
            try part.write(Array(archive([("a", [1]), ("b", [2])]).prefix(1024)))
        }
        #expect(target.names.isEmpty)
        let name: String
        do {
            let part = try open(target.path)
            name = try #require(target.names.first)
            #expect(failure { () throws(TransferFailure) in _ = try open2(target.path) }?.reason == .busy)
            part.discard()
        }
        // As after a crash.
        _ = shell(
            "cd '\(target.path)' && mkdir -p '\(name)/x/y' && echo 1 > '\(name)/x/a' && chmod 500 '\(name)/x' '\(name)'"
        )
        let part = try open(target.path)
        try part.write(archive([("a", [1])]))
        try part.finish()
        #expect(target.listing("tree").split(separator: "\n").count == 1)
    }

    /// Compares a whole beginning.
    private func compared(_ archive: FolderArchive) throws -> ContentDigest {
        while true {
            if let digest = try archive.compare() { return digest }
        }
    }

    @Test(arguments: [0, 1535, 1536, 1537, 60_000, 101_888, 110_000, 120_000, 130_000, .max])
    func `a folder that was interrupted at any position continues there`(place: Int) throws {
        let source = try makeTree()
        let target = try TestFolder()
        let bytes = try packed(source.file("t")).bytes
        do {
            let part = try open(target.path, id: try transferID())
            try part.prepare(behind: nil)
            try feed(Array(bytes.prefix(place)), to: part)
        }
        let part = try open(target.path, id: try transferID())
        let here = try part.makeArchive()
        let digest = try here.map(compared)
        #expect((here == nil) == (place < 1536))
        let rest = try SourceFile(source.file("t")).makeArchive(behind: here?.beginning ?? .init())
        if here != nil { #expect(try compared(rest) == digest && rest.beginning == here?.beginning) }
        try part.prepare(behind: here)
        var count = 0
        while let piece = try rest.next(limit: 3000) {
            count += piece.count
            try feed(piece, to: part)
        }
        #expect(count < bytes.count - min(place, bytes.count) + 32_768)
        try part.finish()
        #expect(target.names == ["tree"])
        #expect(target.listing("tree") == source.listing("t").replacing("block f 4755", with: "block f 755"))
    }

    @Test(arguments: [
        "echo x >> t/block", "printf 2 | dd of=t/block bs=1 conv=notrunc", "mv t/block t/blocks", "rm t/.hidden/.file",
        "touch t/.hidden/.another", "rm -r t/*", "rm t/block; mkdir t/block",
    ])
    func `a folder is not continued if something already sent has changed`(change: String) throws {
        let source = try makeTree()
        let target = try TestFolder()
        let bytes = try packed(source.file("t")).bytes
        do {
            let part = try open(target.path, id: try transferID())
            try feed(Array(bytes.dropLast(3000)), to: part)
        }
        let part = try open(target.path, id: try transferID())
        let here = try #require(try part.makeArchive())
        let digest = try compared(here)
        _ = shell("cd '\(source.path)' && (\(change)) 2>/dev/null; find t -exec touch -d @1400000001 {} +")
        #expect(try compared(SourceFile(source.file("t")).makeArchive(behind: here.beginning)) != digest)
        try part.prepare(behind: nil)
        try part.write(try packed(source.file("t")).bytes)
        try part.finish()
        #expect(target.listing("tree") == source.listing("t").replacing(" f 4755", with: " f 755"))
    }

    @Test
    func `an archive that does not continue the kept part fails, and leaves nothing`() throws {
        let target = try TestFolder()
        let whole = archive([("a", [1]), ("b", [1, 2, 3])])
        for wrong in [archive([("a", [1])]), archive([("b", [1])]), archive([]), archive([("c", [1, 2])])] {
            do {
                let part = try open(target.path, id: try transferID())
                try part.write(Array(whole.prefix(1538)))
            }
            let part = try open(target.path, id: try transferID())
            let here = try #require(try part.makeArchive())
            _ = try compared(here)
            #expect(here.beginning == .init(entries: 2, lastBytes: 2))
            try part.prepare(behind: here)
            let failed = failure { () throws(TransferFailure) in
                try part.write(wrong)
                try part.finish()
            }
            #expect(failed?.reason == .malformed)
            part.discard()
        }
        #expect(target.names.isEmpty)
    }

    @Test
    func `nothing is kept of a file that changed while its folder was being sent`() throws {
        let target = try TestFolder()
        do {
            let part = try open(target.path, id: try transferID())
            try part.write(Array(archive([("a", [1]), ("b", [1, 2, 3])]).prefix(1538)))
            part.discardFile()
        }
        let part = try open(target.path, id: try transferID())
        let here = try #require(try part.makeArchive())
        _ = try compared(here)
        #expect(here.beginning == .init(entries: 1, lastBytes: 1))
        part.discard()
    }

    @Test
    func `files in a folder whose size differs from that of their content arrive completely`() throws {
        let (bytes, notes) = try packed("/proc/sys/kernel/random")
        let target = try TestFolder()
        let part = try open(target.path)
        try part.write(bytes)
        try part.finish()
        #expect(target.read("tree/poolsize") == Array(shell("cat /proc/sys/kernel/random/poolsize").utf8))
        #expect(target.read("tree/uuid")?.count == 37 && notes.isEmpty)
    }

    private func open2(_ output: String) throws(TransferFailure) -> Destination.Incoming {
        guard let header = TransferHeader(kind: .folder, name: "tree"), let device = try? sender() else {
            throw TransferFailure(.failed, "no sample")
        }
        return try Destination(output: output).open(header, from: device)
    }

    @Test
    func `without the newer kernel calls the result is the same`() throws {
        var calls = KernelCalls()
        calls.opensBeneath = false
        calls.renamesOnlyNew = false
        let source = try makeTree()
        let target = try TestFolder()
        let part = try open(target.path, calls: calls)
        try part.write(try packed(source.file("t")).bytes)
        target.make("tree")
        #expect(try part.finish() == target.file("tree (2)"))
        #expect(target.listing("tree (2)") == source.listing("t").replacing("block f 4755", with: "block f 755"))
    }

    @Test(arguments: [true, false])
    func `a link that replaces a folder during unpacking is not followed`(opensBeneath: Bool) throws {
        var calls = KernelCalls()
        calls.opensBeneath = opensBeneath
        let (target, other) = (try TestFolder(), try TestFolder())
        let part = try open(target.path, calls: calls)
        for name in ["d", "e"] {
            let entry = TarEntry(kind: .folder, components: [Array(name.utf8)], size: 0, mode: 0o755, modified: 1)
            try part.write(entry.encoded())
        }
        let inside = "\(target.path)/\(try #require(target.names.first))/d"
        #expect(rmdir(inside) == 0 && symlink(other.path, inside) == 0)
        #expect(throws: TransferFailure.self) { try part.write(archive([("d/x", [1])])) }
        #expect(other.names == [])
    }

    @Test
    func `a user's name also applies to a folder, and nothing that appears late is replaced`() throws {
        let target = try TestFolder()
        let part = try open(target.file("mine"), name: nil)
        try part.write(archive([("a", [1])]))
        target.make("mine")
        #expect(failure { () throws(TransferFailure) in try part.finish() }?.reason == .exists)
        _ = shell("rmdir '\(target.file("mine"))'")
        try part.finish()
        #expect(target.names == ["mine"])
    }

    @Test
    func `the total length of folder names kept to the end is limited`() throws {
        let (source, target) = (try TestFolder(), try TestFolder())
        source.make("tree")
        for index in 0..<20 { source.make("tree/" + String(repeating: "n", count: 200) + "\(index)") }
        let archive = try packed(source.file("tree")).bytes
        var limits = TarLimits.standard
        limits.memory = 5000
        let small = try open(target.path, limits: limits)
        #expect(failure { () throws(TransferFailure) in try feed(archive, to: small) }?.reason == .tooLarge)
        small.discard()
        limits.memory = 10_000
        let large = try open(target.path, limits: limits)
        try feed(archive, to: large)
        try large.finish()
    }
}
