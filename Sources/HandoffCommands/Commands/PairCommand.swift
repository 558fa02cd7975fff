import HandoffControl
import HandoffModel
import QRText

/// `pair`: lets a new device into the account.
package struct PairCommand: Command {
    package static let specification = CommandSpecification(
        words: ["pair"], summary: "let a new device into the account: shows a code, and waits",
        options: [
            OptionSpecification("--yes", .flag, "let in the first device that knows the code, without a question"),
            OptionSpecification("--qr", .flag, "on a terminal: the link as a QR code instead of as text"),
            OptionSpecification("--timeout", .value("SECONDS"), "close the window after this time; at most 3 minutes"),
        ],
        details: """
            Type the digits on the new device, after: handoffctl join. Or open the link there, which has a longer secret.
            Both are good for one device, and for three minutes; Ctrl-C closes the window before.
            When a device knows the code, you are asked whether to let it in: compare the digits of its id.
            The link is shown on a terminal only, and under --json.
            """,
        example: "handoffctl pair")

    private let request: PairRequest

    package init(validating arguments: ParsedArguments) throws(UsageError) {
        var timeout: Double?
        if let text = arguments.value("--timeout") {
            timeout = try ArgumentValue.seconds(text, option: "--timeout", command: Self.specification.name)
        }
        request = PairRequest(
            automatic: arguments.has("--yes"), showsQRCode: arguments.has("--qr"),
            timeout: timeout.map { .seconds($0) })
    }

    package func run(in context: CommandContext) {
        guard request.automatic || context.keyboard.isTerminal else {
            return context.fail(.nobodyToAsk("whether to let a device in"))
        }
        let session = PairSession(request, context)
        context.keep(session)
        session.start()
    }
}

/// What the user asked `pair` to do.
struct PairRequest {
    /// Let the first device in that knows the code.
    let automatic: Bool
    /// Show the link as a QR code where that is possible.
    let showsQRCode: Bool
    /// When the window is closed, if before its own end.
    let timeout: Duration?
}

/// An open pairing window, for the person who brings the new device in.
struct PairingText {
    /// Whole lines.
    let text: String

    /// - Parameter showsQRCode: the link as a QR code, if the terminal has room for it.
    init(_ window: PairingWindowDescription, _ console: Console, showsQRCode: Bool) {
        var text = ""
        var fields: [(label: String, value: String)] = []
        if let code = window.code { fields.append(("code", Self.grouped(code))) }
        if !window.addresses.isEmpty {
            fields.append(("address", window.addresses.map(VisibleText.escape).joined(separator: "\n")))
        }
        // The link is a secret like the digits, but a longer one: not for files and pipes, where it would stay.
        if console.outputIsTerminal {
            let columns = showsQRCode ? console.graphicColumns : nil
            if let lines = columns.flatMap({ QRCode(window.link)?.lines(columns: $0) }) {
                text += lines.joined(separator: "\n") + "\n\n"
            } else {
                fields.append(("link", VisibleText.escape(window.link)))
            }
        }
        self.text = text + ColumnTable.fields(fields)
    }

    /// `1234 5678`: people read and type two groups of four with fewer slips than eight digits.
    static func grouped(_ code: String) -> String {
        let code = VisibleText.escape(code)
        guard code.count > 4 else { return code }
        return "\(code.prefix(4)) \(code.dropFirst(4))"
    }
}
