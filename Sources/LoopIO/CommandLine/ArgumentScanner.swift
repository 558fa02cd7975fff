/// Scans a command line and sorts its words into flags, values and operands. The caller decides
/// which options are allowed at each position.
package struct ArgumentScanner {
    /// One word of the command line.
    package enum Argument {
        /// A word that begins with a dash and is not the single `-` for standard input or output.
        case option(String)
        /// Any other word.
        case operand(String)
    }

    /// The arguments accepted so far.
    package private(set) var arguments = ParsedArguments()
    /// True after `--`: every further word is an operand.
    package private(set) var onlyOperands = false
    private var rest: ArraySlice<String>

    /// - Parameter words: the words after the program's name, as system text.
    package init(_ words: [String]) {
        rest = words[...]
    }

    /// Returns the next word. Skips `--`, after which every word is an operand.
    package mutating func next() -> Argument? {
        guard let word = rest.popFirst() else { return nil }
        if onlyOperands { return .operand(word) }
        if word == "--" {
            onlyOperands = true
            return next()
        }
        return word.hasPrefix("-") && word != "-" ? .option(word) : .operand(word)
    }

    /// Accepts an operand.
    /// - Parameter isSystemText: true if it may be a path or a shell command.
    package mutating func accept(operand: String, isSystemText: Bool) {
        arguments.operands.append(isSystemText ? operand : operand.systemTextRepaired)
    }

    /// Accepts an option and its value. `-h` is short for `--help`.
    /// - Parameter options: the options allowed at this position.
    package mutating func accept(
        option text: String, among options: [OptionSpecification]
    ) throws(ArgumentError) {
        let parts = text.splitOption
        let written = parts.first ?? text
        let name = written == "-h" ? "--help" : written
        guard let option = options.first(where: { $0.name == name }) else { throw .unknownOption(written) }
        guard let placeholder = option.placeholder else {
            guard parts.count == 1 else { throw .unexpectedValue(name) }
            arguments.flags.append(name)
            return
        }
        if case .value = option.form, arguments.values[name] != nil { throw .repeatedOption(name) }
        let value = try parts.count == 2 ? parts[1] : nextValue(of: option, options)
        arguments.values[name, default: []].append(placeholder.isSystemText ? value : value.systemTextRepaired)
    }

    /// Returns the word after an option that needs a value. A known option is refused as the value,
    /// because the value was most likely forgotten. Other words that begin with a dash are
    /// accepted.
    private mutating func nextValue(
        of option: OptionSpecification, _ options: [OptionSpecification]
    ) throws(ArgumentError) -> String {
        guard let value = rest.first else { throw .missingValue(option) }
        let name = value.prefix { $0 != "=" }
        if name == "--" || options.contains(where: { $0.name == name }) { throw .optionAsValue(option, value: value) }
        rest.removeFirst()
        return value
    }
}

/// An option that the scanner cannot accept. Each program has its own texts for these.
package enum ArgumentError: Error, Sendable, Equatable {
    /// No allowed option has the name, which is given as typed.
    case unknownOption(String)
    /// The command line ends before the option's value.
    case missingValue(OptionSpecification)
    /// The word after the option is itself an option.
    case optionAsValue(OptionSpecification, value: String)
    /// A flag was given a value.
    case unexpectedValue(String)
    /// The option was given twice.
    case repeatedOption(String)
}

/// The arguments of a command line, split but not yet validated.
package struct ParsedArguments: Sendable, Equatable {
    /// Operands in command-line order.
    package fileprivate(set) var operands: [String] = []
    /// The flags given, with their dashes, in command-line order.
    package fileprivate(set) var flags: [String] = []
    /// The values of each option, in command-line order.
    package fileprivate(set) var values: [String: [String]] = [:]

    /// Returns true if the flag was given.
    package func has(_ flag: String) -> Bool { flags.contains(flag) }

    /// Returns the value of an option that may be given once.
    package func value(_ option: String) -> String? { values[option]?.last }

    /// Returns all values of a repeatable option.
    package func all(_ option: String) -> [String] { values[option] ?? [] }
}
