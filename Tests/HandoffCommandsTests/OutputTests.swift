import HandoffCommands
import HandoffJSON
import Testing

@Suite struct OutputTests {
    @Test(arguments: [
        (-1.0, "just now"), (0, "just now"), (59.9, "just now"), (60, "1 min"), (150, "2 min"), (3599, "59 min"),
        (3600, "1 h"), (172_799, "47 h"), (172_800, "2 days"), (.nan, "just now"), (.infinity, "11574 days"),
    ])
    func `ages are formatted as words`(_ seconds: Double, _ expected: String) {
        #expect(RelativeAge.text(seconds: seconds) == expected)
    }

    @Test(arguments: [
        ("", 0), ("abc", 3), ("é", 1), ("e\u{301}", 1), ("日本", 4), ("👩‍💻", 2), ("❤️", 2), ("ａ", 2), ("한", 2),
    ])
    func `widths are those of a terminal`(_ text: String, _ expected: Int) {
        #expect(DisplayWidth.of(text) == expected)
    }

    @Test(arguments: [("short", 5, "short"), ("longer", 5, "long…"), ("日本語", 5, "日本…"), ("日本語", 4, "日…"), ("", 3, "")])
    func `texts are truncated to columns`(_ text: String, _ columns: Int, _ expected: String) {
        let cut = DisplayWidth.truncate(text, to: columns)
        #expect(cut == expected)
        #expect(DisplayWidth.of(cut) <= columns)
    }

    @Test func `columns are aligned and empty ones left out`() {
        var table = ColumnTable(["ID", "TITLE", "TEAM", "AGE"])
        table.add(["1", "日本", "", "2 min"])
        table.add(["22", "Draft", "", "just now"])
        #expect(table.lines() == ["ID  TITLE  AGE", "1   日本   2 min", "22  Draft  just now"])
    }

    @Test(arguments: [10, 24, 30, 40, 80]) func `a table is truncated in its widest columns`(_ columns: Int) {
        var table = ColumnTable(["ID", "TITLE", "OPENS IN"])
        table.add(["a1b2c3d", "A letter to Ada", "nothing: no app continues com.example.editing"])
        let lines = table.lines(fitting: columns)
        // The minimum widths 7, 8, 8 and two gaps are kept on any terminal.
        #expect(lines.allSatisfy { DisplayWidth.of($0) <= max(columns, 27) }, "\(lines)")
        #expect(lines.last?.hasPrefix("a1b2c3d  A ") == true)
        #expect(table.lines(fitting: 200) == table.lines())
    }

    @Test func `a rewritten line fits the terminal`() {
        var written = ""
        let console = Console(
            outputIsTerminal: true, diagnosticsAreTerminal: true, statusColumns: { 20 }, output: { _ in },
            diagnostics: { written += $0 }, writeBytes: { _ in })
        let status = StatusLine(console)
        status.show("receiving  8%  116.0 MiB of 1.4 GiB")
        #expect(written == "\r\u{1B}[Kreceiving  8%  116…")
    }

    @Test func `fields are aligned across several lines`() {
        #expect(ColumnTable.fields([("a", "1"), ("long", "2\n3")]) == "a     1\nlong  2\n      3\n")
    }

    @Test func `a line of JSON has its version first`() {
        #expect(JSONLine.text(["event": "ready"]) == #"{"version":1,"event":"ready"}"#)
        #expect(JSONLine.text(["a": 1.0, "version": 7]) == #"{"version":1,"a":1.0}"#)
    }

    @Test func `a line of JSON hides nothing`() throws {
        let object: JSONObject = ["title": "a\u{202E}b\u{9B}c\u{E0041}\u{2028}\n\u{1B}[2J\u{3164}\u{200D}"]
        let line = JSONLine.text(object)
        #expect(line.unicodeScalars.allSatisfy { (0x20...0x7E).contains($0.value) })
        let back = try JSON(parsing: Array(line.utf8), limits: JSONLimits(bytes: 1000))
        #expect(back.object?["title"] == object["title"])
    }

    @Test func `pretty JSONIs indented and visible`() {
        let value: JSON = ["page": 3, "list": [1, []], "empty": [:], "text": "a\u{202E}b\n"]
        #expect(
            PrettyJSON.text(value) == """
                {
                  "page": 3,
                  "list": [
                    1,
                    []
                  ],
                  "empty": {},
                  "text": "a\\u{202E}b\\n"
                }
                """)
    }
}

/// Tests the `--json` output of commands that need no daemon.
@Suite struct PlainCommandJSONTests {
    @Test(arguments: [
        (["--version"], "release"), (["help"], "help"), (["help", "send"], "help"), (["send", "--help"], "help"),
        (["-h"], "help"), (["completion", "bash"], "script"), (["completion", "zsh"], "script"),
        (["completion", "fish"], "script"), (["completion", "words", "--", "send", "x", ""], "candidates"),
        (["completion", "words", "--", "stat"], "candidates"),
    ])
    func `every line is an object with a version`(_ words: [String], _ field: String) throws {
        let run = try CommandRun()
        #expect(try run.run(["--json"] + words) == .done)
        #expect(run.objects.count == 1 && run.output.split(separator: "\n").count == 1, "\(run.output)")
        #expect(run.objects.first?["version"] == 1)
        #expect(run.objects.first?[field] != nil)
    }
}
