// Failures of what protects an account file.
extension CommandFailure {
    /// A passphrase of no characters protects nothing.
    static func emptyPassphrase() -> CommandFailure {
        CommandFailure(.wrongUsage, "WrongUsage", "the passphrase is empty")
    }

    /// What was typed the second time is something else.
    static func passphrasesDiffer() -> CommandFailure {
        CommandFailure(.failed, "PassphrasesDiffer", "the two passphrases differ")
    }

    /// A passphrase was given for a file that is in the clear: perhaps not the file that was meant.
    static func notProtected(_ source: String) -> CommandFailure {
        CommandFailure(
            .failed, "NotProtected", "\(source) is not protected by a passphrase",
            advice: ["if it is the right file, leave --passphrase-file away"])
    }

    /// A passphrase is needed, and nobody can be asked.
    static func passphraseNeeded(why: String) -> CommandFailure {
        CommandFailure(
            .wrongUsage, "WrongUsage", "the passphrase of the account file cannot be asked for: \(why)",
            advice: ["name a file with the passphrase: --passphrase-file FILE"])
    }

    /// The daemon did not protect the file that it made; it was not written.
    static func exportInTheClear() -> CommandFailure {
        CommandFailure(
            .failed, "NotProtected", "the daemon's account file is not protected by the passphrase; it was not kept",
            advice: [
                "handoffctl and handoffd may be of different versions",
                "close its ticket: handoffctl account show, then handoffctl account export --revoke TICKET",
            ])
    }

    /// No account file has such a long one.
    static func passphraseTooLong() -> CommandFailure {
        CommandFailure(.wrongUsage, "WrongUsage", "the passphrase is longer than \(PassphraseSource.longest) bytes")
    }
}
