import HandoffModel
import LoopIO

/// Scans a command line and sorts its words into flags, values and operands.
struct ArgumentScanner {
    /// One word of the command line.
    enum Argument {
        /// A word that begins with a dash and is not the single `-` for standard input or output.
        case option(String)
        /// Any other word.
        case operand(String)
    }

    /// The arguments found so far.
    private(set) var arguments = ParsedArguments()
    /// True if `--version` was given instead of a command.
    private(set) var wantsVersion = false
    private var rest: ArraySlice<String>
    private var onlyOperands = false
    private let table: CommandTable

    init(_ words: [String], table: CommandTable) {
        rest = words[...]
        self.table = table
    }

    /// Returns the next word. Skips `--`, after which every word is an operand.
    mutating func next() -> Argument? {
        guard let word = rest.popFirst() else { return nil }
        if onlyOperands { return .operand(word) }
        if word == "--" {
            onlyOperands = true
            return next()
        }
        return word.hasPrefix("-") && word != "-" ? .option(word) : .operand(word)
    }

    /// Consumes an option that precedes the command.
    mutating func takeGlobal(_ text: String) throws(UsageError) {
        if text == "--version" {
            wantsVersion = true
        } else {
            try take(text, among: OptionSpecification.global, command: nil)
        }
    }

    /// Consumes everything after the command's name.
    mutating func takeRest(of specification: CommandSpecification) throws(UsageError) {
        while let argument = next() {
            switch argument {
            case .operand(let word):
                arguments.operands.append(specification.operands.namesPath ? word : word.systemTextRepaired)
            case .option(let text):
                try take(text, among: specification.options + OptionSpecification.global, command: specification.name)
            }
        }
    }

    /// Rejects too few or too many operands.
    func checkOperands(of specification: CommandSpecification) throws(UsageError) {
        if arguments.operands.count < specification.operandCount.lowerBound {
            throw .missingOperand(specification)
        }
        if let extra = arguments.operands.dropFirst(specification.operandCount.upperBound).first {
            throw .extraOperand(extra, specification)
        }
    }

    private mutating func take(
        _ text: String, among options: [OptionSpecification], command: String?
    ) throws(UsageError) {
        let parts = text.splitOption
        let written = parts.first ?? text
        let name = written == "-h" ? "--help" : written
        guard let option = options.first(where: { $0.name == name }) else {
            if command == nil, table.knowsOption(name) { throw .misplacedOption(written) }
            let suggestion = Spelling.nearest(to: name, among: options.map(\.name))
            throw .unknownOption(written, command: command, suggestion: suggestion)
        }
        switch option.form {
        case .flag:
            guard parts.count == 1 else { throw .unexpectedValue(name, command: command) }
            arguments.flags.insert(name)
        case .value, .values:
            if case .value = option.form, arguments.values[name] != nil {
                throw .repeated(name, command: command)
            }
            let value = try parts.count == 2 ? parts[1] : nextValue(of: option, options, command)
            arguments.values[name, default: []].append(option.takesPath ? value : value.systemTextRepaired)
        }
    }

    /// Returns the word after an option that needs a value. A known option is refused as the value,
    /// because the value was most likely forgotten. Other words that begin with a dash are
    /// accepted.
    private mutating func nextValue(
        of option: OptionSpecification, _ options: [OptionSpecification], _ command: String?
    ) throws(UsageError) -> String {
        guard let value = rest.first else { throw .missingValue(option, command: command) }
        let name = value.prefix { $0 != "=" }
        if name == "--" || options.contains(where: { $0.name == name }) {
            throw .optionAsValue(option, value: value, command: command)
        }
        rest.removeFirst()
        return value
    }
}

/// The arguments of one command, split but not yet validated.
package struct ParsedArguments: Sendable, Equatable {
    /// Operands in command-line order.
    package var operands: [String]
    /// The flags given, with their dashes.
    package var flags: Set<String>
    /// The values of each option, in command-line order.
    package var values: [String: [String]]

    package init(operands: [String] = [], flags: Set<String> = [], values: [String: [String]] = [:]) {
        self.operands = operands
        self.flags = flags
        self.values = values
    }

    /// Returns true if the flag was given.
    package func has(_ flag: String) -> Bool { flags.contains(flag) }

    /// Returns the value of an option that may be given once.
    package func value(_ option: String) -> String? { values[option]?.last }

    /// Returns all values of a repeatable option.
    package func all(_ option: String) -> [String] { values[option] ?? [] }
}
