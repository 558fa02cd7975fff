import HandoffControl
import HandoffModel
import QRText

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
