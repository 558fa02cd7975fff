internal import HandoffCrypto

/// The passphrase protection of an account file (form 1): salt 16, then the content sealed with
/// AES-256-GCM. scrypt derives the key from passphrase and salt, and the file's header is the
/// additional data.
///
/// The nonce is twelve zero bytes, because the salt gives each file its own key. The bytes of the
/// passphrase are used without normalisation.
package struct PassphraseSeal: Sendable {
    /// The value of the `form` header field for this protection.
    package static let form: UInt16 = 1
    /// Maximum length of a passphrase in bytes.
    package static let maxPassphrase = 1024
    static let saltCount = 16

    /// The parameters of real files.
    static let standard = PassphraseSeal(scrypt: .standard)
    /// Parameters that give no protection, for tests that do not exercise scrypt.
    package static let trivial = PassphraseSeal(scrypt: .trivial)

    private let scrypt: Scrypt

    private init(scrypt: Scrypt) {
        self.scrypt = scrypt
    }

    /// Seals `content` as it is stored in the file.
    func seal(
        _ content: SecretBytes, passphrase: SecretBytes, salt: [UInt8], header: [UInt8]
    ) throws(FileError) -> SecretBytes {
        let key = try key(passphrase, salt)
        do throws(CryptoError) {
            return try AESGCM.seal(content, key: key, additionalData: header)
        } catch {
            throw .keyDerivationFailed(error.description)
        }
    }

    /// Opens bytes `range` of `file`, which include the salt.
    func open(
        _ file: SecretBytes, in range: Range<Int>, passphrase: SecretBytes, header: [UInt8]
    ) throws(FileError) -> SecretBytes {
        var reader = SecretReader(file, from: range.lowerBound, to: range.upperBound)
        // Checked before the slow derivation: content this short is invalid with any passphrase.
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
        guard (1...Self.maxPassphrase).contains(passphrase.count) else { throw .invalidPassphraseLength }
        do throws(CryptoError) {
            return try scrypt.key(from: passphrase, for: .file, salt: salt, count: AESGCM.keyCount)
        } catch {
            throw .keyDerivationFailed(error.description)
        }
    }
}
