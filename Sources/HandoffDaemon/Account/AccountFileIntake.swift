package import HandoffCrypto

/// Parses the input of a client on the stream of an account file: the length of a passphrase (4
/// bytes, big-endian), the passphrase, and for an import the file. Performs no I/O. Lengths are
/// checked before any byte is kept.
package final class AccountFileIntake {
    /// The reason why the stream is refused.
    package enum Fault: Error {
        /// The passphrase is longer than any file has.
        case passphraseTooLong
        /// The client sent more bytes than allowed.
        case tooLong
    }

    private static let lengthCount = 4

    private let maxFile: Int
    private let maxPassphrase: Int
    private var lengthBytes = 0
    private var length = 0
    private let secret = SecretBuilder()
    private let content = SecretBuilder()

    /// - Parameter maxFile: the maximum size of the file in bytes; 0 if none is expected.
    package init(maxPassphrase: Int, maxFile: Int) {
        self.maxPassphrase = maxPassphrase
        self.maxFile = maxFile
    }

    /// Whether the length and the passphrase are complete.
    package var hasPassphrase: Bool { lengthBytes == Self.lengthCount && secret.count == length }

    /// Appends received bytes, in order.
    package func take(_ bytes: Span<UInt8>) throws(Fault) {
        var position = 0
        while position < bytes.count, lengthBytes < Self.lengthCount {
            length = length << 8 | Int(bytes[position])
            lengthBytes += 1
            position += 1
        }
        guard lengthBytes == Self.lengthCount else { return }
        guard length <= maxPassphrase else { throw .passphraseTooLong }
        let end = min(bytes.count, position + length - secret.count)
        secret.append(bytes.extracting(position..<end))
        guard bytes.count - end <= maxFile - content.count else { throw .tooLong }
        content.append(bytes.extracting(end..<bytes.count))
    }

    /// Returns the passphrase; nil for none. Call it once.
    package func takePassphrase() -> SecretBytes? {
        length == 0 ? nil : secret.take()
    }

    /// Returns the file. Call it once.
    package func takeFile() -> SecretBytes {
        content.take()
    }

    /// Overwrites all received bytes.
    func clear() {
        secret.clear()
        content.clear()
    }
}
