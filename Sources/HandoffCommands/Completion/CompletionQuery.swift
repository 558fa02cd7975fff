import LoopIO

/// An incomplete command line up to the cursor. Decides which words can be at the cursor. An
/// invalid line is not an error; it has no completions.
package struct CompletionQuery: Sendable {
    /// The socket given with `--socket`.
    package private(set) var socket: String?
    /// The completions at the cursor.
    package private(set) var answer = CompletionAnswer()

    private let table: CommandTable

    /// - Parameter line: the words after the program's name. The last one is the typed part of the
    ///   word at the cursor.
    package init(_ line: [String], table: CommandTable = .standard) {
        self.table = table
        guard let scan = try? CommandScan(line.dropLast(), table: table) else { return }
        socket = scan.scanner.arguments.value("--socket")
        let typed = line.last ?? ""
        answer = answer(to: typed, after: scan)
        answer.candidates = answer.candidates.filter { $0.word.hasPrefix(typed) }
    }

    private func answer(to typed: String, after scan: CommandScan) -> CompletionAnswer {
        if let option = scan.openOption { return value(option.placeholder, typed: typed) }
        if !scan.scanner.onlyOperands, typed.hasPrefix("-") {
            if let equals = typed.firstIndex(of: "=") {
                let before = String(typed[...equals])
                let option = scan.options.first { $0.name == typed[..<equals] }
                return value(option?.placeholder, typed: String(typed.dropFirst(before.count)), before: before)
            }
            let possible = scan.options.filter { isPossible($0, after: scan.scanner.arguments) }
            return CompletionAnswer(.words, possible.map { .init($0.name, $0.summary) })
        }
        guard let command = scan.command?.specification else {
            return CompletionAnswer(.words, commandWords(after: scan.words))
        }
        return value(command.operand(at: scan.scanner.arguments.operands.count)?.placeholder, typed: typed)
    }

    private func isPossible(_ option: OptionSpecification, after arguments: ParsedArguments) -> Bool {
        if case .values = option.form { return true }
        return !arguments.has(option.name) && arguments.values[option.name] == nil
    }

    /// Returns the completions of a value; none without a placeholder.
    /// - Parameters:
    ///   - typed: the typed part of the value.
    ///   - before: the text before it in the same word.
    private func value(_ placeholder: Placeholder?, typed: String, before: String = "") -> CompletionAnswer {
        switch placeholder {
        case .path?, .file?, .fileOrStream?, .content?, .item?, .offered?, .document?:
            return CompletionAnswer(.files(after: before))
        case .payload?:
            return typed.hasPrefix("@") ? CompletionAnswer(.files(after: before + "@")) : CompletionAnswer()
        case .device?: return CompletionAnswer(.asked(.device, before: before, begun: typed))
        case .otherDevice?, .offerOrDevice?:
            return CompletionAnswer(.asked(.otherDevice, before: before, begun: typed))
        case .type?: return CompletionAnswer(.asked(.type, before: before, begun: typed))
        case .ticket?: return CompletionAnswer(.asked(.ticket, before: before, begun: typed))
        case .offer?: return CompletionAnswer(.asked(.activity, before: before, begun: typed))
        case .app?: return CompletionAnswer(.asked(.app, before: before, begun: typed))
        case .command?: return CompletionAnswer(.words, commandWords(after: []))
        case let other?: return CompletionAnswer(.words, other.choices.map { .init(before + $0) })
        case nil: return CompletionAnswer()
        }
    }

    /// Returns the words that can follow the first words of a command.
    private func commandWords(after words: [String]) -> [CompletionAnswer.Candidate] {
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
