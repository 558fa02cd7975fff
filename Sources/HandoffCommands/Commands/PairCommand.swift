import HandoffControl
import HandoffModel
package import LoopIO
import QRText

/// `pair`: admits a new device to the account.
package struct PairCommand: Command {
    package static let specification = CommandSpecification(
        words: ["pair"], summary: "admit a new device to the account: show a code and wait",
        options: [
            OptionSpecification("--yes", .flag, "admit the first device that knows the code, without asking"),
            OptionSpecification("--qr", .flag, "on a terminal: show the link as a QR code instead of text"),
            OptionSpecification(
                "--timeout", .value("SECONDS"), "close the pairing window after this time (default and maximum: 180)"),
        ],
        details: """
            Opens a window of three minutes and shows the digits, on a terminal the link, and the address that the new
            device connects to, for handoffctl join --peer if it does not find this device automatically. On the new
            device, run handoffctl join and type the digits, or open the link there or paste it. The link contains a
            longer secret. Both are valid for one device. Ctrl-C, and the answer no, close the window earlier.

            The command reports each wrong guess, with the number of remaining guesses. After five, the digits are
            invalid, and only the link works. After too many recent wrong codes, no digits are shown. When a device
            knows the code, you are asked whether to admit it, with its name and the beginning of its id: compare them
            with the output of handoffctl status there. On a terminal the remaining time is counted down. The link is a
            secret that is easily stored by mistake, so it is shown only on a terminal and with --json. --qr needs a
            terminal that is large enough.

            With --json:

              opened     code (null without digits), link, addresses, seconds: the window is open
              wrongCode  guessesLeft: a device tried a wrong code
              codeEnded  too many wrong codes; only the link works
              confirm    device (id, name): this device knows the code; your confirmation is needed
              gone       device: it disconnected before an answer; the window stays open
              joining    device: the account is handed over
              joined     device: it belongs to the account; the end
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
            return context.fail(.confirmationImpossible("whether to admit a device"))
        }
        let session = PairSession(request, context)
        context.keep(session)
        session.start()
    }
}

/// The validated arguments of `pair`.
struct PairRequest {
    /// True to admit the first device that knows the code.
    let automatic: Bool
    /// True to show the link as a QR code where possible.
    let showsQRCode: Bool
    /// When to close the window, if earlier than the daemon does.
    let timeout: Duration?
}

/// Formats an open pairing window for the user who adds the device.
struct PairingText {
    /// Complete lines.
    let text: String

    /// - Parameter showsQRCode: true to show the link as a QR code if it fits on the terminal.
    init(_ window: PairingWindowDescription, _ console: Console, showsQRCode: Bool) {
        var text = ""
        var fields: [(label: String, value: String)] = []
        if let code = window.code { fields.append(("code", Self.grouped(code))) }
        if !window.addresses.isEmpty {
            fields.append(("address", window.addresses.map(VisibleText.escape).joined(separator: "\n")))
        }
        // The link is a longer secret than the digits: keep it out of files and pipes, where it
        // would remain.
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

    /// Groups the digits as `1234 5678`, which people read and type with fewer errors than eight
    /// digits in a row.
    static func grouped(_ code: String) -> String {
        let code = VisibleText.escape(code)
        guard code.count > 4 else { return code }
        return "\(code.prefix(4)) \(code.dropFirst(4))"
    }
}
