import HandoffAccount
import HandoffCrypto
import HandoffTestSupport
import LoopIO

extension TestDevice {
    /// The account as it is stored now; read without a lock, since a daemon replaces the file whole.
    func storedAccount() throws -> AccountState? {
        guard let content = try? LocalFile.read(state.file("account"), limit: 1_048_576) else { return nil }
        return try AccountState(decoding: SecretBytes(copying: content.bytes))
    }
}
