import HandoffClient
import LoopIO

/// Where the passphrase of a new account file comes from: never from arguments or variables.
enum PassphraseSource {
    /// There is none.
    case none
    /// The terminal, twice.
    case terminal
    /// The first line of a file.
    case file(String)

    /// The longest passphrase that the daemon takes, in bytes.
    static let longest = 1024
    /// More than any passphrase, in bytes.
    private static let maxFile = 4096

    /// Understands `--passphrase` and `--passphrase-file`.
    init(_ arguments: ParsedArguments, command: String) throws(UsageError) {
        if let path = arguments.value("--passphrase-file") {
            if arguments.has("--passphrase") { throw .conflict("--passphrase", "--passphrase-file", command: command) }
            self = .file(try ArgumentValue.text(path, option: "--passphrase-file"))
        } else {
            self = arguments.has("--passphrase") ? .terminal : .none
        }
    }

    /// Gets it, and goes on; fails the command when it is empty or not the same twice.
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

    /// The first line of a file, without its end.
    static func readFile(_ path: String, _ context: CommandContext) throws(CommandFailure) -> SecretBuffer {
        let file: LocalFile
        do {
            file = try LocalFile.read(path, limit: maxFile)
        } catch {
            throw .file("read", path, why: "\(error)")
        }
        if file.isReadableByOthers { context.note("warning: other users can read \(path), which is a secret") }
        let whole = SecretBuffer(file.bytes)
        var line = whole.bytes.prefix { $0 != 0x0A }
        if line.last == 0x0D { line.removeLast() }
        if line.isEmpty { throw .emptyPassphrase() }
        if line.count > Self.longest { throw .passphraseTooLong() }
        return SecretBuffer(Array(line))
    }

    private static func askTwice(_ context: CommandContext, _ then: @escaping (SecretBuffer?) -> Void) {
        context.askSecret("Passphrase for the account file: ", orElse: { .passphraseNeeded(why: $0) }) { first in
            guard let first, !first.bytes.isEmpty else { return context.fail(.emptyPassphrase()) }
            context.askSecret("The same again: ") { second in
                guard let second, second.bytes == first.bytes else { return context.fail(.passphrasesDiffer()) }
                guard first.bytes.count <= Self.longest else {
                    return context.fail(.passphraseTooLong())
                }
                then(first)
            }
        }
    }
}
