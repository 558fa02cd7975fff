import HandoffClient
import LoopIO

/// The source of the passphrase for a new account file: never arguments or variables.
enum PassphraseSource {
    /// No passphrase.
    case none
    /// The terminal, with a repetition.
    case terminal
    /// The first line of a file.
    case file(String)

    /// The maximum length of a passphrase that the daemon accepts, in bytes.
    static let maxLength = 1024
    /// The maximum size of a passphrase file, in bytes: more than any passphrase.
    private static let maxFile = 4096

    /// Parses `--passphrase` and `--passphrase-file`.
    init(_ arguments: ParsedArguments, command: String) throws(UsageError) {
        if let path = arguments.value("--passphrase-file") {
            if arguments.has("--passphrase") { throw .conflict("--passphrase", "--passphrase-file", command: command) }
            self = .file(try ArgumentValue.text(path, option: "--passphrase-file"))
        } else {
            self = arguments.has("--passphrase") ? .terminal : .none
        }
    }

    /// Reads the passphrase and passes it on. Fails the command if it is empty or the repetition
    /// differs.
    func read(in context: CommandContext, _ then: @escaping (SecretBuffer?) -> Void) {
        switch self {
        case .none: then(nil)
        case .file(let path):
            do throws(CommandFailure) {
                then(try Self.readFile(path, context))
            } catch {
                context.fail(error)
            }
        case .terminal: Self.askTwice(context, then)
        }
    }

    /// Returns the first line of a file, without its terminator.
    static func readFile(_ path: String, _ context: CommandContext) throws(CommandFailure) -> SecretBuffer {
        let file: LocalFile
        do {
            file = try LocalFile.read(path, limit: maxFile)
        } catch {
            throw .file("read", path, why: "\(error)")
        }
        if file.isReadableByOthers { context.note("warning: other users can read \(path), which is secret") }
        let whole = SecretBuffer(file.bytes)
        var line = whole.bytes.prefix { $0 != 0x0A }
        if line.last == 0x0D { line.removeLast() }
        if line.isEmpty { throw .emptyPassphrase() }
        if line.count > Self.maxLength { throw .passphraseTooLong() }
        return SecretBuffer(Array(line))
    }

    private static func askTwice(_ context: CommandContext, _ then: @escaping (SecretBuffer?) -> Void) {
        context.askSecret("Passphrase for the account file: ", orElse: { .passphraseNeeded(why: $0) }) { first in
            guard let first, !first.bytes.isEmpty else { return context.fail(.emptyPassphrase()) }
            context.askSecret("Repeat the passphrase: ") { second in
                guard let second, second.bytes == first.bytes else { return context.fail(.passphrasesDiffer()) }
                guard first.bytes.count <= Self.maxLength else {
                    return context.fail(.passphraseTooLong())
                }
                then(first)
            }
        }
    }
}
