/// An incomplete command line up to the cursor. Decides which words can be at the cursor. An
/// invalid line is not an error; it has no completions.
package struct CompletionQuery: Sendable {
    /// The socket given with `--socket`.
    package private(set) var socket: String?
    /// The completions at the cursor.
    package private(set) var answer = CompletionAnswer()

    private let table: CommandTable
    private var words: [String] = []
    private var command: CommandSpecification?
    private var operands = 0
    private var given: Set<String> = []
    private var onlyOperands = false
    /// The option whose value is the next word.
    private var pending: OptionSpecification?

    /// - Parameter line: the words after the program's name. The last one is the typed part of the
    ///   word at the cursor.
    package init(_ line: [String], table: CommandTable = .standard) {
        self.table = table
        for word in line.dropLast() where !pass(word) { return }
        complete(line.last ?? "")
    }

    // ---- Words before the cursor

    /// Processes a complete word. Returns false if the line is invalid.
    private mutating func pass(_ word: String) -> Bool {
        if let option = pending {
            pending = nil
            if option.name == "--socket" { socket = word }
        } else if !onlyOperands, word == "--" {
            onlyOperands = true
        } else if !onlyOperands, word.hasPrefix("-"), word != "-" {
            return passOption(word)
        } else {
            return passOperand(word)
        }
        return true
    }

    private mutating func passOption(_ word: String) -> Bool {
        let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard let option = options.first(where: { $0.name == parts[0] }) else { return word == "-h" }
        given.insert(option.name)
        if option.form != .flag {
            if parts.count == 1 {
                pending = option
            } else if option.name == "--socket" {
                socket = String(parts[1])
            }
        }
        return true
    }

    private mutating func passOperand(_ word: String) -> Bool {
        if command != nil {
            operands += 1
            return true
        }
        words.append(word)
        switch table.find(words) {
        case .command(let found): command = found.specification
        case .group: break
        case .none: return false
        }
        return true
    }

    /// The options allowed at this position.
    private var options: [OptionSpecification] { (command?.options ?? []) + OptionSpecification.global }

    // ---- The word at the cursor

    private mutating func complete(_ typed: String) {
        if let option = pending {
            answer = value(of: option, typed: typed, before: "")
        } else if !onlyOperands, typed.hasPrefix("-"), typed != "-", let equals = typed.firstIndex(of: "=") {
            guard let option = options.first(where: { $0.name == typed[..<equals] }) else { return }
            let before = String(typed[...equals])
            answer = value(of: option, typed: String(typed.dropFirst(before.count)), before: before)
        } else if !onlyOperands, typed.hasPrefix("-") {
            answer = CompletionAnswer(.words, options.filter(isStillPossible).map { .init($0.name, $0.summary) })
        } else if let command {
            let placeholder = Self.placeholder(of: command, at: operands)
            answer = Self.answer(to: placeholder, of: command.name, typed: typed, before: "", table)
        } else {
            answer = CompletionAnswer(.words, Self.commandWords(after: words, table))
        }
        answer.candidates = answer.candidates.filter { $0.word.hasPrefix(typed) }
    }

    private func isStillPossible(_ option: OptionSpecification) -> Bool {
        if case .values = option.form { return true }
        return !given.contains(option.name)
    }

    private func value(of option: OptionSpecification, typed: String, before: String) -> CompletionAnswer {
        switch option.form {
        case .flag: CompletionAnswer()
        case .value(let placeholder), .values(let placeholder):
            Self.answer(to: placeholder, of: option.name, typed: typed, before: before, table)
        }
    }

    /// Returns the placeholder of an operand; nil if the command accepts no more operands.
    private static func placeholder(of command: CommandSpecification, at index: Int) -> String? {
        let all = command.operands.split(separator: " ").map { $0.filter { $0 != "[" && $0 != "]" } }
        guard let last = all.last else { return nil }
        let more = "..."
        guard index < all.count || last.hasSuffix(more) else { return nil }
        let placeholder = all[min(index, all.count - 1)]
        return placeholder.hasSuffix(more) ? String(placeholder.dropLast(more.count)) : placeholder
    }

    /// Returns the completions for a placeholder of the help texts.
    private static func answer(
        to placeholder: String?, of owner: String, typed: String, before: String, _ table: CommandTable
    ) -> CompletionAnswer {
        switch placeholder {
        case nil: return CompletionAnswer()
        case "PATH", "FILE", "FILE|-", "FILE|FOLDER|-", "URL|FILE|FOLDER|-", "TYPE|URL|FILE|FOLDER|-":
            return CompletionAnswer(.files(after: before))
        case "JSON|@FILE":
            return typed.hasPrefix("@") ? CompletionAnswer(.files(after: before + "@")) : CompletionAnswer()
        case "DEVICE" where owner == "device rename":
            return CompletionAnswer(.asked(.device, before: before, begun: typed))
        // All other commands refuse this device.
        case "DEVICE", "ID|DEVICE": return CompletionAnswer(.asked(.otherDevice, before: before, begun: typed))
        case "TYPE": return CompletionAnswer(.asked(.type, before: before, begun: typed))
        case "TICKET": return CompletionAnswer(.asked(.ticket, before: before, begun: typed))
        case "ID" where owner == "continue": return CompletionAnswer(.asked(.activity, before: before, begun: typed))
        case "ID" where owner.hasPrefix("app "): return CompletionAnswer(.asked(.app, before: before, begun: typed))
        case "COMMAND" where owner == "help": return CompletionAnswer(.words, commandWords(after: [], table))
        case let words?:
            // Lower-case words are literals: 'on|off'.
            let choices = words.split(separator: "|").map(String.init)
            guard choices.allSatisfy({ $0.allSatisfy { $0.isLowercase || $0 == "-" } }) else {
                return CompletionAnswer()
            }
            return CompletionAnswer(.words, choices.map { .init(before + $0) })
        }
    }

    /// Returns the words that can follow the first words of a command.
    private static func commandWords(after words: [String], _ table: CommandTable) -> [CompletionAnswer.Candidate] {
        var found: [CompletionAnswer.Candidate] = []
        for command in table.commands {
            let specification = command.specification
            let whole = specification.words
            guard whole.starts(with: words), whole.count > words.count else { continue }
            let next = whole[words.count]
            guard !found.contains(where: { $0.word == next }) else { continue }
            let isGroup = whole.count > words.count + 1
            let members = isGroup ? table.subcommands(of: next).joined(separator: ", ") : specification.summary
            found.append(.init(next, members))
        }
        return found
    }
}
