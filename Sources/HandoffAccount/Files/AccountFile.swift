package import HandoffCrypto
internal import HandoffProtocol

/// An exported account. The holder of the file, who also needs its passphrase if it has one, is
/// admitted once, until a member closes its ticket. The file contains no account key.
///
/// Content: seed of the ticket 32, then the roster as a ``StatementList`` to the end. The `form` of
/// the header states the protection of the content: 0 for none, 1 for a passphrase
/// (``PassphraseSeal``).
package struct AccountFile: Sendable {
    /// The private half of the ticket.
    package let ticketSeed: SecretBytes
    /// The roster that contains the ticket.
    package let roster: Roster

    /// Encodes the file. With a passphrase this needs 64 MiB and about 0.2 s: call it on a worker
    /// thread.
    ///
    /// - Parameter passphrase: 1 to 1,024 bytes; nil leaves the content in the clear.
    /// - Throws: ``FileError/invalidPassphraseLength`` or ``FileError/keyDerivationFailed(_:)``.
    package func encoded(
        passphrase: SecretBytes? = nil, seal: PassphraseSeal = .standard
    ) throws(FileError) -> SecretBytes {
        try encoded(passphrase: passphrase, seal: seal, salt: Randomness.bytes(PassphraseSeal.saltCount))
    }

    /// Encodes the file with a given salt, for test vectors. Never use a salt twice.
    package func encoded(
        passphrase: SecretBytes?, seal: PassphraseSeal = .standard, salt: [UInt8]
    ) throws(FileError) -> SecretBytes {
        let parts = [ticketSeed, SecretBytes(copying: roster.encoded())]
        guard let passphrase else { return FileFormat.export.file(parts) }
        let content = SecretBytes.concatenated(parts)
        let header = FileFormat.export.header(
            form: PassphraseSeal.form, length: salt.count + content.count + AESGCM.tagCount)
        let sealed = try seal.seal(content, passphrase: passphrase, salt: salt, header: header)
        return FileFormat.export.file([SecretBytes(copying: salt), sealed], form: PassphraseSeal.form)
    }

    private static func content(
        of file: SecretBytes, passphrase: SecretBytes?, seal: PassphraseSeal
    ) throws(FileError) -> SecretReader {
        let (form, content) = try FileFormat.export.contentInAnyForm(of: file)
        switch (form, passphrase) {
        case (0, nil): return content
        case (0, _): throw .notProtected
        case (PassphraseSeal.form, nil): throw .passphraseMissing
        case (PassphraseSeal.form, let passphrase?):
            let header = FileFormat.export.header(form: form, length: content.remaining)
            let range = FileFormat.headerCount..<(FileFormat.headerCount + content.remaining)
            return SecretReader(try seal.open(file, in: range, passphrase: passphrase, header: header))
        default: throw .unknownForm(form)
        }
    }
}

extension AccountFile {
    /// Decodes a file and checks all its signatures. With a passphrase this takes as long as
    /// encoding.
    ///
    /// - Throws: ``FileError/passphraseMissing``, ``FileError/passphraseWrong``,
    ///   ``FileError/notProtected``, or the error in the file.
    package init(
        decoding file: SecretBytes, passphrase: SecretBytes? = nil, seal: PassphraseSeal = .standard
    ) throws(FileError) {
        var reader = try Self.content(of: file, passphrase: passphrase, seal: seal)
        ticketSeed = try reader.secret(SigningKey.seedCount)
        let statements = try reader.plain(reader.remaining)
        do throws(StatementError) {
            roster = try Roster(decoding: statements)
        } catch {
            throw .invalid(error.description)
        }
    }
}
