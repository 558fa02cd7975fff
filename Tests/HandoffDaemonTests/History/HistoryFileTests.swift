import Glibc
import HandoffControl
import HandoffDaemon
import HandoffJSON
import HandoffModel
import HandoffState
import HandoffTestSupport
import Testing

/// The continuation log on the disk.
@Suite struct HistoryFileTests {
    private let folder: ScratchStateFolder
    private let stored: StoredState

    init() throws {
        folder = try ScratchStateFolder()
        stored = try StateFolder.open(folder.path, now: 1_700_000_000)
    }

    private func entry(_ name: String = "desk") -> ControlLogEntry {
        ControlLogEntry(
            time: 1_700_000_000.5, event: .stream, direction: .out, type: "com.example.a",
            device: DeviceID(checked: [UInt8](repeating: 7, count: DeviceID.byteCount)), deviceName: name,
            app: "Editor", outcome: "ended", sent: 5, received: .max)
    }

    @Test
    func `entries are read as they were written, with numbers that continue after restarts`() throws {
        let file = HistoryFile(stored.folder)
        #expect(try file.page(after: 0) == ControlLogPage(entries: [], hasMore: false))
        var first = try file.append([entry("a\u{202E}\"\n")])[0]
        #expect(first.number == 1)
        let again = HistoryFile(stored.folder)
        let second = try again.append([entry()])[0]
        #expect(second.number == 2)
        #expect(try again.page(after: 0).entries == [first, second])
        #expect(try again.page(after: 1).entries == [second])
        first.number = 0
        #expect(first == entry("a\u{202E}\"\n"))
    }

    @Test
    func `entries that are written together have consecutive numbers`() throws {
        let file = HistoryFile(stored.folder)
        let many = (0..<HistoryFile.maxTogether).map { entry("desk \($0)") }
        let written = try file.append(many)
        #expect(written.map(\.number) == Array(1...HistoryFile.maxTogether))
        #expect(try file.page(after: 0).entries == written)
        #expect(try file.append([entry()])[0].number == HistoryFile.maxTogether + 1)
    }

    @Test
    func `truncated and invalid lines are skipped, and the next entry starts a new line`() throws {
        try append("nonsense\n{}\n{\"number\": 7}\n\u{0}\n{\"number\": 8, \"ti")
        let file = HistoryFile(stored.folder)
        let written = try file.append([entry()])[0]
        #expect(written.number == 1)
        #expect(try file.page(after: 0).entries == [written])
    }

    @Test
    func `forged numbers of entries never trap`() throws {
        var last = entry()
        last.number = .max
        try append(String(decoding: JSON.object(last.json).encoded(), as: UTF8.self) + "\n")
        let file = HistoryFile(stored.folder)
        #expect(try file.append([entry()])[0].number == .max)
        #expect(try file.page(after: .max).entries.isEmpty)
        #expect(try file.page(after: .min).entries.count == 2)
    }

    @Test
    func `a full file replaces the previous one, and pages continue across both`() throws {
        let file = HistoryFile(stored.folder)
        let long = entry(String(repeating: "\u{1}", count: HistoryFile.maxText))
        var last = 0
        while folder.read("history.old") == nil { last = try file.append([long])[0].number }
        #expect(last > 400 && last < 1000)
        #expect(try #require(folder.read("history.old")).count <= HistoryFile.maxBytes)
        var numbers: [Int] = []
        var page = ControlLogPage(entries: [], hasMore: true)
        while page.hasMore {
            page = try file.page(after: numbers.last ?? 0)
            #expect(page.entries.count <= HistoryFile.pageSize)
            numbers += page.entries.map(\.number)
        }
        #expect(numbers == Array(1...last))
    }

    @Test
    func `texts that are too long are truncated, so that the longest entry can be read again`() throws {
        var long = entry(String(repeating: "\u{1}", count: 100_000))
        long.type = long.deviceName
        long.app = "e" + String(repeating: "\u{301}", count: 100_000)
        long.outcome = long.deviceName
        let file = HistoryFile(stored.folder)
        let written = try file.append([long])[0]
        #expect(written.deviceName.utf8.count == HistoryFile.maxText)
        #expect(written.app?.utf8.count == HistoryFile.maxText - 1)
        #expect(try file.page(after: 0).entries == [written])
    }

    @Test
    func `only a plain file is written to`() throws {
        #expect(symlink("/dev/null", "\(folder.path)/history") == 0)
        #expect(throws: StateError.self) { _ = try HistoryFile(stored.folder).append([entry()]) }
    }

    private func append(_ text: String) throws {
        let file = open("\(folder.path)/history", O_WRONLY | O_CREAT | O_APPEND, 0o600)
        try #require(file >= 0 && write(file, text, text.utf8.count) == text.utf8.count)
        close(file)
    }
}
