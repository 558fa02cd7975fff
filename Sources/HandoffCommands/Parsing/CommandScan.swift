import HandoffModel
import LoopIO

/// A scanned command line: the command and its arguments, which may be incomplete.
struct CommandScan {
    /// The words of the command's name that were given.
    private(set) var words: [String] = []
    /// The command; nil if the line does not name one completely.
    private(set) var command: (any Command.Type)?
    /// The option at the end of the line whose value is missing.
    private(set) var openOption: OptionSpecification?
    /// True if `--version` was given instead of a command.
    private(set) var wantsVersion = false
    /// The arguments, and whether only operands can follow.
    private(set) var scanner: ArgumentScanner

    private let table: CommandTable

    /// Scans the words after the program's name.
    /// - Throws: `UsageError` for words and options that no continuation of the line makes valid.
    init(_ line: [String], table: CommandTable) throws(UsageError) {
        self.table = table
        scanner = ArgumentScanner(line)
        while let argument = scanner.next() {
            switch argument {
            case .option("--version") where command == nil: wantsVersion = true
            case .option(let text): try accept(option: text)
            case .operand(let word):
                guard let operands = command?.specification else {
                    try find(word)
                    continue
                }
                let operand = operands.operand(at: scanner.arguments.operands.count)
                scanner.accept(operand: word, isSystemText: operand?.placeholder.isSystemText ?? false)
            }
        }
    }

    /// The options that can be given after the scanned words.
    var options: [OptionSpecification] { (command?.specification.options ?? []) + OptionSpecification.global }

    private mutating func accept(option text: String) throws(UsageError) {
        do {
            try scanner.accept(option: text, among: options)
        } catch .missingValue(let option) {
            openOption = option
        } catch .unknownOption(let name) where command == nil && table.knowsOption(name) {
            throw .misplacedOption(name)
        } catch {
            throw UsageError(error, options: options, command: command?.specification.name)
        }
    }

    private mutating func find(_ word: String) throws(UsageError) {
        words.append(word)
        switch table.find(words) {
        case .command(let found): command = found
        case .group: break
        case .none where words.count == 1: throw .unknownCommand(word, suggestion: table.suggestion(for: word))
        case .none:
            let nearest = Spelling.nearest(to: word, among: table.subcommands(of: words[0]))
            throw .unknownSubcommand(word, of: words[0], suggestion: nearest.map { "\(words[0]) \($0)" })
        }
    }
}
