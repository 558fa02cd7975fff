package import HandoffAccount
internal import HandoffCrypto
internal import HandoffModel

extension StateFolder {
    /// Takes the folder, reads everything in it, makes the device key at the very first start, and counts this start.
    ///
    /// When it returns, the number of this start is on the disk: the first datagram may be sent.
    ///
    /// - Parameter now: seconds since 1970.
    /// - Throws: naming the file, when any is damaged, cut off, or does not fit the others; all are left as they are.
    package static func open(_ path: String, now: UInt64) throws(StateError) -> StoredState {
        let folder = try StateFolder(locking: path)
        let seed = try folder.decode(.identity, IdentityFile.decode)
        let account = try folder.decode(.account, AccountState.init(decoding:))
        let boot = try folder.decode(.boot, BootFile.decode)
        let peers = try folder.readPeers()

        let identity = try folder.identity(seed, account)
        let next = BootFile.next(stored: boot, now: now)
        try folder.store(boot: next)
        return StoredState(folder: folder, identity: identity, account: account, boot: next, peers: peers)
    }

    /// Writes the account; to be done before anything that it says is acted on.
    package func store(account: AccountState) throws(StateError) {
        try replace(.account, account.encoded())
    }

    /// Forgets the account, as after leaving it; the device key stays.
    package func removeAccount() throws(StateError) {
        try remove(.account)
    }

    /// Writes the number of this start, when a peer knew of a greater one (`BootFile.raised`).
    package func store(boot: UInt64) throws(StateError) {
        try replace(.boot, BootFile.encode(boot))
    }

    /// Writes the list of static peers.
    package func store(peers: PeersFile) throws(StateError) {
        try replace(.peers, SecretBytes(copying: peers.encoded()))
    }

    /// The device key of `seed`, or a new one if there is no account that the missing one would belong to.
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

    /// The content of a binary file; nil if there is none.
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

    private func readPeers() throws(StateError) -> PeersFile {
        guard let bytes = try read(.peers) else { return PeersFile() }
        do throws(PeersFile.BadLine) {
            return try PeersFile(decoding: bytes.exposedCopy())
        } catch {
            throw .badPeer(path: path(of: .peers), line: error.number)
        }
    }
}
