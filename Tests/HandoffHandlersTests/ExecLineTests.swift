import HandoffHandlers
import Testing

/// The commands of desktop entries.
@Suite struct ExecLineTests {
    @Test(arguments: [
        ("app", ["app"]), ("app  %u --x\ty", ["app", "%u", "--x", "y"]),
        (#""/opt/My App/run" "a \"b\" \$c \\ d" ''"#, ["/opt/My App/run", #"a "b" $c \ d"#, "''"]),
        (#"app "" b"#, ["app", "", "b"]), (#"a"b c"d"#, ["ab cd"]),
    ])
    func `words are separated by blanks outside quotes`(text: String, words: [String]) {
        #expect(ExecLine(text)?.words == words)
    }

    @Test(arguments: ["", "  ", #""app"#, #""" b"#, #""a\"#])
    func `a text without a program is invalid`(text: String) {
        #expect(ExecLine(text) == nil)
    }

    @Test func `field codes are replaced within their words, and no word is split or joined`() {
        let line = ExecLine(#"app %i --page=%u %f %c %k 100%% %F"#)
        #expect(line?.takesPage == true && line?.takesFile == true)
        #expect(
            line?.expanded(page: "https://a.example/ x;$(y)", file: nil)
                == ["app", "--page=https://a.example/ x;$(y)", "100%"])
        #expect(line?.expanded(file: "/d/%u b.pdf") == ["app", "--page=", "/d/%u b.pdf", "100%", "/d/%u b.pdf"])
    }

    @Test(arguments: [
        (#"sh -c "cat %f""#, true), (#"app "%u""#, true), (#"a"%"b"#, true), (#"app "100%%" %f"#, false),
        (#"app "a b" %f"#, false), (#"app "%%%f""#, true), (#"app "a"%f"#, false),
    ])
    func `a field code inside quotes is found`(text: String, isQuoted: Bool) {
        #expect(ExecLine(text)?.hasQuotedCode == isQuoted)
    }

    @Test func `an escaped percent sign is not a field code`() {
        #expect(ExecLine("app %%u")?.takesPage == false)
        #expect(ExecLine("app %%u")?.expanded(page: "p") == ["app", "%u"])
        #expect(ExecLine("app %")?.expanded() == ["app"], "a truncated field code")
    }
}
