import LoopIO
import Testing

@Suite struct ArgumentScannerTests {
    private static let options = [
        OptionSpecification("--file", .value(.file), "a path"),
        OptionSpecification("--title", .value("TEXT"), "a text"),
        OptionSpecification("--key", .values("KEY"), "may be repeated"),
        OptionSpecification("--help", .flag, "help"),
    ]

    /// Scans all words, with the same options at each position.
    private func scan(_ words: String...) throws(ArgumentError) -> ParsedArguments {
        var scanner = ArgumentScanner(words)
        while let argument = scanner.next() {
            switch argument {
            case .option(let text): try scanner.accept(option: text, among: Self.options)
            case .operand(let word): scanner.accept(operand: word, isSystemText: false)
            }
        }
        return scanner.arguments
    }

    @Test func `words are sorted into flags values and operands`() throws {
        let arguments = try scan("a", "--title", "T", "-h", "--key=1", "-", "--key", "-2", "--", "--title")
        #expect(arguments.operands == ["a", "-", "--title"])
        #expect(arguments.flags == ["--help"])
        #expect(arguments.value("--title") == "T")
        #expect(arguments.all("--key") == ["1", "-2"])
    }

    @Test func `only a value that can be a path keeps bytes that are not UTF-8`() throws {
        let latin = String(systemBytes: [0xE9])
        let arguments = try scan("--file", latin, "--title", latin, latin)
        #expect(arguments.value("--file") == latin)
        #expect(arguments.value("--title") == "\u{FFFD}")
        #expect(arguments.operands == ["\u{FFFD}"])
    }

    @Test(arguments: [
        (["--titel", "x"], ArgumentError.unknownOption("--titel")),
        (["-x=1"], .unknownOption("-x")),
        (["--title"], .missingValue(options[1])),
        (["--title", "--file=a"], .optionAsValue(options[1], value: "--file=a")),
        (["--title", "--"], .optionAsValue(options[1], value: "--")),
        (["--help=yes"], .unexpectedValue("--help")),
        (["--title=a", "--title", "b"], .repeatedOption("--title")),
    ])
    func `an option that cannot be accepted is an error`(_ words: [String], _ error: ArgumentError) {
        var scanner = ArgumentScanner(words)
        #expect(throws: error) {
            while case .option(let text) = scanner.next() { try scanner.accept(option: text, among: Self.options) }
        }
    }
}
