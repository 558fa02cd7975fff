package import HandoffCrypto

/// What a client sends on the stream of an account file: the length of a passphrase, 4 bytes big-endian, the passphrase,
/// and then, for an import, the file. No I/O; lengths are compared before anything is kept.
package final class AccountFileIntake {
    /// Why the stream is refused.
    package enum Fault: Error {
        /// The passphrase is longer than any file has.
        case passphraseTooLong
        /// More bytes came than belong there.
        case tooLong
    }

    private static let lengthCount = 4

    private let maxFile: Int
    private let maxPassphrase: Int
    private var lengthBytes = 0
    private var length = 0
    private let secret = SecretBuilder()
    private let content = SecretBuilder()

    /// - Parameter longestFile: bytes of the file, at most; 0 when none is to come.
    package init(maxPassphrase: Int, maxFile: Int) {
        self.maxPassphrase = maxPassphrase
        self.maxFile = maxFile
    }

    /// Whether the length and the passphrase are there.
    package var hasPassphrase: Bool { lengthBytes == Self.lengthCount && secret.count == length }

    /// Takes bytes in the order in which they came.
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

    /// The passphrase; nil for none. To be asked once.
    package func takePassphrase() -> SecretBytes? {
        length == 0 ? nil : secret.take()
    }

    /// The file. To be asked once.
    package func takeFile() -> SecretBytes {
        content.take()
    }

    /// Overwrites what has come so far.
    package func clear() {
        secret.clear()
        content.clear()
    }
}
