package import HandoffAccount
import HandoffModel

/// The receipts of this device that their origins have not confirmed. A text file with the encoded
/// receipt in hexadecimal on each line.
package struct ReceiptsFile: Sendable, Equatable {
    /// Maximum size of a file in bytes: a line for each receipt that devices keep of one device.
    static let maxFile = KeptLimits.maxReceipts * 400

    /// The receipts. Their signatures are unchecked.
    package let receipts: [KeptReceipt]

    /// Creates a file with these receipts.
    package init(receipts: [KeptReceipt] = []) {
        self.receipts = receipts
    }

    /// Decodes a file. Lines in another format are skipped.
    package init(decoding bytes: [UInt8]) {
        receipts = bytes.split(separator: UInt8(ascii: "\n")).compactMap { line in
            Hex.decode(String(decoding: line, as: UTF8.self)).flatMap { try? KeptReceipt(decoding: $0) }
        }
    }

    /// Encodes the file.
    package func encoded() -> [UInt8] {
        receipts.flatMap { Array("\(Hex.encode($0.encoded))\n".utf8) }
    }
}
