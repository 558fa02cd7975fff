import HandoffAccount
import HandoffCrypto
import HandoffTestSupport
import LoopIO

extension TestDevice {
    /// Returns the stored account. It is read without a lock, because a daemon replaces the whole
    /// file.
    func storedAccount() throws -> AccountState? {
        guard let content = try? LocalFile.read(state.file("account"), limit: 1_048_576) else { return nil }
        return try AccountState(decoding: SecretBytes(copying: content.bytes))
    }
}
