package import HandoffAccount
package import HandoffCrypto
package import HandoffHandlers

/// The content of the state folder when it was opened.
package struct StoredState: Sendable {
    /// The folder, which stays locked while a reference to it exists.
    package let folder: StateFolder
    /// The device key, generated at the first start.
    package let identity: SigningKey
    /// The account, or nil while the device is in none.
    package let account: AccountState?
    /// The generation number of this start, greater than all earlier ones.
    package let generation: UInt64
    /// Static peers.
    package let peers: PeersFile
    /// Apps that are switched off.
    package let apps: AppSwitches
    /// Claims of apps in the order first seen.
    package let claims: ClaimHistory
    /// The directions that the user has switched off.
    package let switches: Switches
    /// The networks that the user knows.
    package let networks: NetworksFile
    /// When another device was last seen, or nil if unknown.
    package let contact: ContactFile?
    /// The latest calls with the static label.
    package let callers: CallersFile
    /// The receipts that their origins have not confirmed.
    package let receipts: ReceiptsFile

    /// The content of the folder after `StateFolder.resetIdentity`: a new identity and no account.
    ///
    /// - Parameters:
    ///   - generation: the generation number of this start, as now stored.
    ///   - peers: static peers, as now stored.
    ///   - apps: switched-off apps, as now stored.
    ///   - claims: claims of apps in the order first seen.
    ///   - switches: switched-off directions, as now stored.
    ///   - networks: the known networks, as now stored.
    package func renewed(
        identity: SigningKey, generation: UInt64, peers: PeersFile, apps: AppSwitches, claims: ClaimHistory,
        switches: Switches, networks: NetworksFile
    ) -> StoredState {
        StoredState(
            folder: folder, identity: identity, account: nil, generation: generation, peers: peers, apps: apps,
            claims: claims, switches: switches, networks: networks, contact: nil, callers: CallersFile(),
            receipts: ReceiptsFile())
    }
}
