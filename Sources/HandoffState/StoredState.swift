package import HandoffAccount
package import HandoffCrypto
package import HandoffHandlers

/// What was in the state folder when it was opened.
package struct StoredState: Sendable {
    /// The folder, which stays locked as long as somebody holds it.
    package let folder: StateFolder
    /// The device key, made at the first start.
    package let identity: SigningKey
    /// The account; nil while the device is in none.
    package let account: AccountState?
    /// The number of this start, greater than all before.
    package let boot: UInt64
    /// Static peers.
    package let peers: PeersFile
    /// Apps that are switched off.
    package let apps: AppSwitches
    /// Which app claimed what first.
    package let claims: ClaimHistory
    /// What the user has switched off.
    package let switches: Switches
    /// The networks that the user knows.
    package let networks: NetworksFile
    /// When another device was last heard; nil when that is not known.
    package let contact: ContactFile?
    /// The latest calls by the static label.
    package let callers: CallersFile

    /// What is in the folder after `StateFolder.startAfresh`: another identity and no account.
    ///
    /// - Parameters:
    ///   - boot: the number of this start, as it is stored by now.
    ///   - peers: static peers, as they are stored by now.
    ///   - apps: apps that are switched off, as they are stored by now.
    ///   - claims: which app claimed what first.
    ///   - switches: what is switched off, as it is stored by now.
    ///   - networks: the networks that are known, as they are stored by now.
    package func renewed(
        identity: SigningKey, boot: UInt64, peers: PeersFile, apps: AppSwitches, claims: ClaimHistory,
        switches: Switches, networks: NetworksFile
    ) -> StoredState {
        StoredState(
            folder: folder, identity: identity, account: nil, boot: boot, peers: peers, apps: apps,
            claims: claims, switches: switches, networks: networks, contact: nil, callers: CallersFile())
    }
}
