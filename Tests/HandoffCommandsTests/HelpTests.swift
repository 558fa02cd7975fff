import HandoffCommands
import LoopIO
import Testing

/// Tests the help of all commands, including those added later.
@Suite struct HelpTests {
    private static let specifications = CommandTable.standard.commands.map { $0.specification }

    @Test(arguments: specifications.map(\.name))
    func `every command has help with its usage options and example`(_ name: String) throws {
        let command = try #require(Self.specifications.first { $0.name == name })
        let help = try HelpText.text(for: command.words)
        #expect(help.hasPrefix("Usage: handoffctl \(command.usage)\n"))
        #expect(help.contains("\nExample:\n  \(command.example)\n"))
        for option in command.options + OptionSpecification.global {
            #expect(help.contains("  \(option.synopsis)"))
            #expect(help.contains(option.summary))
        }
        #expect(help.hasSuffix("\n"))
    }

    @Test(arguments: specifications.map(\.name))
    func `every command is in the overview`(_ name: String) throws {
        let command = try #require(Self.specifications.first { $0.name == name })
        let overview = try HelpText.text(for: [])
        #expect(overview.contains("  \(command.title)"))
        #expect(overview.contains(command.summary))
    }

    @Test(arguments: specifications.map(\.name))
    func `every example is a valid command line`(_ name: String) throws {
        let command = try #require(Self.specifications.first { $0.name == name })
        // Only the part before a pipe is a command line of handoffctl.
        let line = command.example.split(separator: "|").first.map(String.init) ?? ""
        var words = Self.words(line)
        #expect(words.removeFirst() == "handoffctl")
        guard case .command(let type, let arguments) = try Invocation(words).request else {
            Issue.record("no command: \(words)")
            return
        }
        #expect(type.specification.name == name)
        _ = try type.init(validating: arguments)
    }

    @Test(arguments: specifications.map(\.name))
    func `every text follows the same style`(_ name: String) throws {
        let command = try #require(Self.specifications.first { $0.name == name })
        for text in [command.summary] + command.options.map(\.summary) {
            #expect(text.first?.isLowercase == true, "\(text)")
            #expect(!text.hasSuffix("."), "\(text)")
            #expect(text.count <= 80, "\(text)")
        }
        for option in command.options {
            #expect(option.name.hasPrefix("--"))
            #expect(OptionSpecification.global.allSatisfy { $0.name != option.name })
        }
        #expect(command.details.split(separator: "\n").allSatisfy { $0.count <= 120 })
    }

    @Test(arguments: specifications.map(\.name))
    func `every command refuses an unknown option`(_ name: String) throws {
        let command = try #require(Self.specifications.first { $0.name == name })
        #expect(throws: UsageError.self) { try Invocation(command.words + ["--no-such-option"]) }
    }

    @Test(arguments: specifications.map(\.name))
    func `every command and its options are in the reference`(_ name: String) throws {
        let command = try #require(Self.specifications.first { $0.name == name })
        let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        let content = try LocalFile.read("/\(root)/docs/command-reference.md", limit: 1_048_576)
        let reference = String(decoding: content.bytes, as: UTF8.self)
        for text in [command.title] + command.options.map(\.synopsis) {
            #expect(reference.contains("`\(text.replacing("|", with: "\\|"))`"))
        }
    }

    @Test func `names are unique`() {
        let names = Self.specifications.map(\.name)
        #expect(Set(names).count == names.count)
    }

    @Test func `a group lists its members`() throws {
        let help = try HelpText.text(for: ["account"])
        for member in ["account create", "account show", "account export FILE|-", "account import FILE|-"] {
            #expect(help.contains("  \(member)  "))
        }
    }

    /// Splits a line like a shell, as far as our examples need: single quotes and spaces.
    private static func words(_ line: String) -> [String] {
        var words: [String] = []
        var word: String?
        var quoted = false
        for character in line {
            switch character {
            case "'":
                quoted.toggle()
                word = word ?? ""
            case " " where !quoted:
                if let complete = word { words.append(complete) }
                word = nil
            default: word = (word ?? "") + String(character)
            }
        }
        if let word { words.append(word) }
        return words
    }
}
