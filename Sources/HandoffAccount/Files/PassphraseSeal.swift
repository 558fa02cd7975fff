internal import HandoffCrypto

/// How a passphrase protects the content of an account file (form 1): salt 16, then the content sealed with AES-256-GCM
/// under the key that scrypt makes of passphrase and salt, with the file's header as additional data.
///
/// The nonce is twelve zero bytes: each file has a key of its own, by its salt. The passphrase is taken as the bytes that
/// it is, without any normalisation.
package struct PassphraseSeal: Sendable {
    /// The form in the header of a file that is protected so.
    package static let form: UInt16 = 1
    /// Bytes of a passphrase, at most.
    package static let maxPassphrase = 1024
    static let saltCount = 16

    /// What every file has.
    package static let standard = PassphraseSeal(scrypt: .standard)
    /// No protection at all, for tests that are not about scrypt.
    package static let trivial = PassphraseSeal(scrypt: .trivial)

    private let scrypt: Scrypt

    private init(scrypt: Scrypt) {
        self.scrypt = scrypt
    }

    /// What stands in the file in the place of `content`.
    func seal(
        _ content: SecretBytes, passphrase: SecretBytes, salt: [UInt8], header: [UInt8]
    ) throws(FileError) -> SecretBytes {
        let key = try key(passphrase, salt)
        do throws(CryptoError) {
            return try AESGCM.seal(content, key: key, additionalData: header)
        } catch {
            throw .underivable(error.description)
        }
    }

    /// The content that bytes `range` of `file`, salt and all, were made of.
    func open(
        _ file: SecretBytes, in range: Range<Int>, passphrase: SecretBytes, header: [UInt8]
    ) throws(FileError) -> SecretBytes {
        var reader = SecretReader(file, from: range.lowerBound, to: range.upperBound)
        // Before the work: what is too short was never made by us, whatever the passphrase.
        guard reader.remaining >= Self.saltCount + AESGCM.tagCount else { throw .invalid("content is too short") }
        let salt = try reader.plain(Self.saltCount)
        let key = try key(passphrase, salt)
        let sealed = (range.lowerBound + Self.saltCount)..<range.upperBound
        guard let content = AESGCM.open(file, in: sealed, key: key, additionalData: header) else {
            throw .passphraseWrong
        }
        return content
    }

    private func key(_ passphrase: SecretBytes, _ salt: [UInt8]) throws(FileError) -> SecretBytes {
        guard (1...Self.maxPassphrase).contains(passphrase.count) else { throw .passphraseUnfit }
        do throws(CryptoError) {
            return try scrypt.key(from: passphrase, for: .file, salt: salt, count: AESGCM.keyCount)
        } catch {
            throw .underivable(error.description)
        }
    }
}
