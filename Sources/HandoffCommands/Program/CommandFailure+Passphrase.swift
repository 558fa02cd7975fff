// Failures related to the passphrase of an account file.
extension CommandFailure {
    /// An empty passphrase protects nothing.
    static func emptyPassphrase() -> CommandFailure {
        CommandFailure(.wrongUsage, "WrongUsage", "the passphrase is empty")
    }

    /// The repeated passphrase is different.
    static func passphrasesDiffer() -> CommandFailure {
        CommandFailure(.failed, "PassphrasesDiffer", "the passphrases do not match")
    }

    /// A passphrase was given for an unprotected file, which may not be the intended one.
    static func notProtected(_ source: String) -> CommandFailure {
        CommandFailure(
            .failed, "NotProtected", "\(source) is not protected by a passphrase",
            advice: ["if it is the right file, omit --passphrase-file"])
    }

    /// A passphrase is needed, but there is no terminal.
    static func passphraseNeeded(why: String) -> CommandFailure {
        CommandFailure(
            .wrongUsage, "WrongUsage", "cannot prompt for the passphrase of the account file: \(why)",
            advice: ["read it from a file with: --passphrase-file FILE"])
    }

    /// The daemon exported the account without protection; the file was not written.
    static func exportInTheClear() -> CommandFailure {
        CommandFailure(
            .failed, "NotProtected", "the daemon exported the account file without the passphrase; it was discarded",
            advice: [
                "handoffctl and handoffd may have different versions",
                "revoke its ticket: handoffctl account show, then handoffctl account export --revoke TICKET",
            ])
    }

    /// The passphrase is longer than any account file accepts.
    static func passphraseTooLong() -> CommandFailure {
        CommandFailure(.wrongUsage, "WrongUsage", "the passphrase is longer than \(PassphraseSource.maxLength) bytes")
    }
}
