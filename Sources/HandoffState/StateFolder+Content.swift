internal import Glibc
package import HandoffAccount
package import HandoffCrypto
package import HandoffHandlers
internal import HandoffModel
internal import LoopIO

extension StateFolder: AccountPersistence {
    /// Locks the folder, reads everything in it, generates the device key at the very first start,
    /// and increments the generation number.
    ///
    /// When it returns, the generation number is on disk and the first datagram may be sent.
    ///
    /// - Parameters:
    ///   - now: seconds since 1970.
    ///   - fileSync: fsync(2).
    ///   - fileLock: flock(2).
    /// - Throws: an error that names the file if a file is damaged, truncated or inconsistent with
    ///   the others. All files are left unchanged.
    package static func open(
        _ path: String, now: UInt64, fileSync: @escaping FileSync = { fsync($0) },
        fileLock: FileLock = { flock($0, LOCK_EX | LOCK_NB) }
    ) throws(StateError) -> StoredState {
        let folder = try StateFolder(locking: path, fileSync: fileSync, fileLock: fileLock)
        let generation = try folder.decode(.boot, GenerationFile.decode)
        let peers = try folder.readPeers()
        let apps = try folder.readApps()
        let switches = try folder.readSwitches()

        let member = try folder.member()
        let next = GenerationFile.next(stored: generation, now: now)
        try folder.store(generation: next)
        return StoredState(
            folder: folder, identity: member.identity, account: member.account, generation: next, peers: peers,
            apps: apps, claims: try folder.readClaims(), switches: switches, networks: try folder.readNetworks(),
            contact: folder.readContact(),
            callers: try folder.readText(.callers).map(CallersFile.init(decoding:)) ?? CallersFile(),
            receipts: try folder.readText(.receipts).map(ReceiptsFile.init(decoding:)) ?? ReceiptsFile())
    }

    /// Deletes the account and the identity after leaving the account or being removed from it: a
    /// removed identity can never be readmitted. The next call, or the next ``open(_:now:)``,
    /// finishes what a crash or an error interrupted. Until then the folder cannot be mistaken for
    /// that of a member.
    ///
    /// - Returns: the new identity.
    package func resetIdentity() throws(StateError) -> SigningKey {
        // From here on neither file is read, so a new identity cannot be combined with the old
        // account.
        try replace(.leaving, SecretBytes(copying: Array("This device is leaving its account.\n".utf8)))
        return try finishLeaving()
    }

    private func finishLeaving() throws(StateError) -> SigningKey {
        try remove(.account)
        try remove(.joined)
        try remove(.callers)
        try remove(.receipts)
        // Replaced rather than removed: a folder without an identity might be ignored at the next
        // start.
        let identity = try identity(nil, nil)
        try remove(.leaving)
        return identity
    }

    /// The identity and its account. A device that was leaving, or had announced that it leaves,
    /// has left.
    private func member() throws(StateError) -> (identity: SigningKey, account: AccountState?) {
        if try read(.leaving) != nil { return (try finishLeaving(), nil) }
        let seed = try decode(.identity, IdentityFile.decode)
        let account = try decode(.account, AccountState.init(decoding:))
        if account != nil {
            noteJoined()
        } else if try hasFile(.joined) {
            guard seed == nil else {
                throw .accountMissing(path: path(of: .account), identity: path(of: .identity))
            }
            // It belonged to an identity that no longer exists.
            try remove(.joined)
        }
        let identity = try identity(seed, account)
        guard account?.hasLeft(DeviceID(identity.publicKey)) ?? false else { return (identity, account) }
        return (try resetIdentity(), nil)
    }

    /// Writes the account. Call it before acting on the account.
    package func store(account: AccountState) throws(StateError) {
        try replace(.account, account.encoded())
        noteJoined()
    }

    /// Records that this identity has an account, so that a deleted account file is not mistaken
    /// for a device without an account. The account is stored even if this fails. The next store or
    /// start retries.
    private func noteJoined() {
        guard (try? hasFile(.joined)) == false else { return }
        // Only the presence of the file matters.
        try? replace(.joined, SecretBytes(copying: Array("account\n".utf8)))
    }

    /// Writes the generation number after a peer reported a greater one (`GenerationFile.raised`).
    package func store(generation: UInt64) throws(StateError) {
        try replace(.boot, GenerationFile.encode(generation))
    }

    /// Writes the list of static peers.
    package func store(peers: PeersFile) throws(StateError) {
        try storeText(.peers, peers.encoded())
    }

    /// Writes the switched-off apps. The caller has checked that they fit in a file.
    package func store(apps: AppSwitches) throws(StateError) {
        guard let bytes = apps.encoded() else { throw .cannotWrite(path: path(of: .apps), .fileTooLarge) }
        try storeText(.apps, bytes)
    }

    /// Writes the claims of apps in the order first seen.
    package func store(claims: ClaimHistory) throws(StateError) {
        try storeText(.claims, claims.encoded)
    }

    /// Writes the switches.
    package func store(switches: Switches) throws(StateError) {
        try storeText(.switches, switches.encoded())
    }

    /// Writes the known networks.
    package func store(networks: NetworksFile) throws(StateError) {
        try storeText(.networks, networks.encoded())
    }

    /// Writes when another device was last seen.
    package func store(contact: ContactFile) throws(StateError) {
        try storeText(.contact, contact.encoded())
    }

    /// Writes the receipts that their origins have not confirmed.
    package func store(receipts: ReceiptsFile) throws(StateError) {
        try storeText(.receipts, receipts.encoded())
    }

    /// Writes the latest calls with the static label.
    package func store(callers: CallersFile) throws(StateError) {
        try storeText(.callers, callers.encoded())
    }

    /// The device key of `seed`, or a new key if there is no account that a missing key would
    /// belong to.
    private func identity(_ seed: SecretBytes?, _ account: AccountState?) throws(StateError) -> SigningKey {
        guard seed != nil || account == nil else {
            throw .identityMissing(path: path(of: .identity), account: path(of: .account))
        }
        let key: SigningKey
        let kept: SecretBytes
        do throws(CryptoError) {
            if let seed { kept = seed } else { kept = try SecretBytes(random: SigningKey.seedCount) }
            key = try SigningKey(seed: kept)
        } catch {
            throw .unusable(path: path(of: .identity), .invalid(error.description))
        }
        if seed == nil { try replace(.identity, IdentityFile.encode(seed: kept)) }
        let device = DeviceID(key.publicKey)
        if let account, account.view.publicKey(of: device) == nil {
            throw .foreignIdentity(path: path(of: .identity), account: path(of: .account), device)
        }
        return key
    }

    /// The content of a binary file, or nil if it does not exist.
    private func decode<Content>(
        _ file: StateFile, _ decode: (SecretBytes) throws(FileError) -> Content
    ) throws(StateError) -> Content? {
        guard let bytes = try read(file) else { return nil }
        do throws(FileError) {
            return try decode(bytes)
        } catch {
            throw .unusable(path: path(of: file), error)
        }
    }

    private func storeText(_ file: StateFile, _ content: [UInt8]) throws(StateError) {
        try replace(file, SecretBytes(copying: TextSeal.sealed(content)))
    }

    /// The content of a text file, or nil if it does not exist.
    private func readText(_ file: StateFile) throws(StateError) -> [UInt8]? {
        guard let bytes = try read(file) else { return nil }
        do throws(FileError) {
            return try TextSeal.content(of: bytes.exposedCopy())
        } catch {
            throw .textDamaged(path: path(of: file))
        }
    }

    /// An unreadable file only costs a hint to the user and does not prevent the start.
    private func readContact() -> ContactFile? {
        (try? readText(.contact)).flatMap(\.self).flatMap(ContactFile.init(decoding:))
    }

    private func readApps() throws(StateError) -> AppSwitches {
        guard let bytes = try readText(.apps) else { return AppSwitches() }
        do throws(PeersFile.BadLine) {
            return try AppSwitches(decoding: bytes)
        } catch {
            throw .badApp(path: path(of: .apps), line: error.number)
        }
    }

    private func readClaims() throws(StateError) -> ClaimHistory {
        // An invalid line only costs its app its place and does not prevent the start.
        try readText(.claims).map(ClaimHistory.init(decoding:)) ?? ClaimHistory()
    }

    private func readSwitches() throws(StateError) -> Switches {
        guard let bytes = try readText(.switches) else { return Switches() }
        do throws(Switches.BadLine) {
            return try Switches(decoding: bytes)
        } catch {
            throw .badSwitch(path: path(of: .switches), line: error.number)
        }
    }

    private func readNetworks() throws(StateError) -> NetworksFile {
        guard let bytes = try readText(.networks) else { return NetworksFile() }
        do throws(PeersFile.BadLine) {
            return try NetworksFile(decoding: bytes)
        } catch {
            throw .badNetwork(path: path(of: .networks), line: error.number)
        }
    }

    private func readPeers() throws(StateError) -> PeersFile {
        guard let bytes = try readText(.peers) else { return PeersFile() }
        do throws(PeersFile.BadLine) {
            return try PeersFile(decoding: bytes)
        } catch {
            throw .badPeer(path: path(of: .peers), line: error.number)
        }
    }
}
