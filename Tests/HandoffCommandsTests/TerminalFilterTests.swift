import Testing

@testable import HandoffCommands

/// Tests which output of another device reaches this terminal.
@Suite struct TerminalFilterTests {
    private func shown(_ pieces: [[UInt8]]) -> String {
        var filter = TerminalFilter()
        return String(decoding: pieces.flatMap { filter.pass($0) }, as: UTF8.self)
    }

    @Test(
        arguments: [
            "a é 漢字 🙂\r\n\t\u{7F}", "\u{1B}[38;2;1;2;3m\u{1B}[4:3m\u{1B}[m", "\u{1B}[?1049h\u{1B}[?1000;1006l\u{1B}[4h",
            "\u{1B}[3;9r\u{1B}[2J\u{1B}[H\u{1B}[>c\u{1B}[6n\u{1B}[>q", "\u{1B}[s\u{1B}[u\u{1B}[2 q\u{1B}[!p",
            "\u{1B}(0\u{1B})B\u{1B}7\u{1B}8\u{1B}=\u{1B}>\u{1B}M\u{1B}c\u{1B}#8",
        ])
    func `colours, the cursor, modes and character sets are shown`(output: String) {
        #expect(shown([Array(output.utf8)]) == output)
        #expect(shown(output.utf8.map { [$0] }) == output)
    }

    @Test(
        arguments: [
            // Strings, with each of their ends.
            ("\u{1B}]52;c;eA==\u{7}", ""), ("\u{1B}]0;t\u{1B}\\", ""), ("\u{1B}P$qm\u{9C}", ""), ("\u{1B}_é\u{18}", ""),
            ("\u{1B}^x\u{1A}", ""), ("\u{1B}Xx\u{1B}[1m", "\u{1B}[1m"), ("\u{9D}52;c;x\u{9C}", ""),
            ("\u{90}$qm\u{7}", ""),
            ("\u{1B}]\u{9B}21t\n\u{5}\u{7}", ""),
            // Reports, printing, unknown modes, and modes that are not reset.
            ("\u{1B}[21t", ""), ("\u{1B}[5i", ""), ("\u{1B}[?3h", ""), ("\u{1B}[?1;3h", ""), ("\u{1B}[?;1h", ""),
            ("\u{1B}[2h", ""), ("\u{1B}[?1$p", ""), ("\u{1B}[1;1;1*y", ""), ("\u{1B}[1?m", ""), ("\u{1B}[<u", ""),
            ("\u{1B}[1q", "\u{1B}[1q"), ("\u{1B}[=1s", ""), ("\u{1B}[1!p", ""),
            // C1 characters, and the query of the answerback message.
            ("\u{9B}1m", ""), ("\u{85}", ""), ("\u{5}", ""),
            // Other escapes.
            ("\u{1B}k", ""), ("\u{1B}%G", ""), ("\u{1B}(é", "é"), ("\u{1B}\u{1B}[1m", "\u{1B}[1m"),
            ("\u{1B}[1\nm", "\nm"),
            ("\u{1B}[1 1m", "1m"), ("\u{1B}", ""),
            ("\u{1B}[\(String(repeating: "1;", count: 200))m", ""),
        ])
    func `all other sequences are removed`(output: String, expected: String) {
        #expect(shown([Array("a\(output)b".utf8)]) == "a\(expected)b" || output.hasSuffix("\u{1B}"))
        #expect(shown(Array(output.utf8).map { [$0] }) == expected)
    }

    @Test(
        arguments: [
            ([0x9B, 0x31, 0x6D], "\u{FFFD}1m"), ([0xFF], "\u{FFFD}"), ([0xC0, 0x80], "\u{FFFD}\u{FFFD}"),
            ([0xE2, 0x82, 0x41], "\u{FFFD}A"), ([0xED, 0xA0, 0x80], "\u{FFFD}\u{FFFD}\u{FFFD}"),
            ([0xF4, 0x90, 0x80], "\u{FFFD}\u{FFFD}\u{FFFD}"), ([0xE2, 0x1B, 0x5B, 0x6D], "\u{FFFD}\u{1B}[m"),
        ] as [([UInt8], String)])
    func `bytes that are not UTF-8 are replaced`(bytes: [UInt8], expected: String) {
        #expect(shown([bytes]) == expected)
        #expect(shown(bytes.map { [$0] }) == expected)
    }
}
