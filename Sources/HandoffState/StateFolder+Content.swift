internal import Glibc
package import HandoffAccount
package import HandoffCrypto
package import HandoffHandlers
internal import HandoffModel
internal import LoopIO

extension StateFolder: AccountPersistence {
    /// Takes the folder, reads everything in it, makes the device key at the very first start, and counts this start.
    ///
    /// When it returns, the number of this start is on the disk: the first datagram may be sent.
    ///
    /// - Parameters:
    ///   - now: seconds since 1970.
    ///   - fileSync: fsync(2).
    ///   - fileLock: flock(2).
    /// - Throws: naming the file, when any is damaged, cut off, or does not fit the others; all are left as they are.
    package static func open(
        _ path: String, now: UInt64, fileSync: @escaping FileSync = { fsync($0) },
        fileLock: FileLock = { flock($0, LOCK_EX | LOCK_NB) }
    ) throws(StateError) -> StoredState {
        let folder = try StateFolder(locking: path, fileSync: fileSync, fileLock: fileLock)
        let boot = try folder.decode(.boot, BootFile.decode)
        let peers = try folder.readPeers()
        let apps = try folder.readApps()
        let switches = try folder.readSwitches()

        let member = try folder.member()
        let next = BootFile.next(stored: boot, now: now)
        try folder.store(boot: next)
        return StoredState(
            folder: folder, identity: member.identity, account: member.account, boot: next, peers: peers,
            apps: apps, claims: try folder.readClaims(), switches: switches, networks: try folder.readNetworks(),
            contact: folder.readContact(),
            callers: try folder.readText(.callers).map(CallersFile.init(decoding:)) ?? CallersFile())
    }

    /// Gives up the account and the identity, as after leaving the account or being removed from it: an identity that was
    /// removed can never come back. What a crash or an error leaves half-done is finished by the next call, or the next
    /// ``open(_:now:)``; until then the folder cannot be taken for that of a member.
    ///
    /// - Returns: the new identity.
    package func startAfresh() throws(StateError) -> SigningKey {
        // From here on neither of the two files is read any more, so that no new identity meets the old account.
        try replace(.leaving, SecretBytes(copying: Array("This device is leaving its account.\n".utf8)))
        return try finishLeaving()
    }

    private func finishLeaving() throws(StateError) -> SigningKey {
        try remove(.account)
        try remove(.joined)
        try remove(.callers)
        // Replaced and not removed first: a folder without it might be passed by at the next start.
        let identity = try identity(nil, nil)
        try remove(.leaving)
        return identity
    }

    /// The identity and its account. A device that was leaving when it was last heard of, or had said that it leaves, has
    /// left.
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
        return (try startAfresh(), nil)
    }

    /// Writes the account; to be done before anything that it says is acted on.
    package func store(account: AccountState) throws(StateError) {
        try replace(.account, account.encoded())
        noteJoined()
    }

    /// Records that this identity has an account, so that a deleted account file is not taken for a device in no account.
    /// The account is stored whether that succeeds or not. The next store or the next start tries again.
    private func noteJoined() {
        guard (try? hasFile(.joined)) == false else { return }
        // Its presence is what counts.
        try? replace(.joined, SecretBytes(copying: Array("account\n".utf8)))
    }

    /// Writes the number of this start, when a peer knew of a greater one (`BootFile.raised`).
    package func store(boot: UInt64) throws(StateError) {
        try replace(.boot, BootFile.encode(boot))
    }

    /// Writes the list of static peers.
    package func store(peers: PeersFile) throws(StateError) {
        try storeText(.peers, peers.encoded())
    }

    /// Writes which apps are switched off; the caller has seen that they fit in a file.
    package func store(apps: AppSwitches) throws(StateError) {
        guard let bytes = apps.encoded() else { throw .cannotWrite(path: path(of: .apps), .fileTooLarge) }
        try storeText(.apps, bytes)
    }

    /// Writes which app claimed what first.
    package func store(claims: ClaimHistory) throws(StateError) {
        try storeText(.claims, claims.encoded)
    }

    /// Writes what is switched off.
    package func store(switches: Switches) throws(StateError) {
        try storeText(.switches, switches.encoded())
    }

    /// Writes which networks are known.
    package func store(networks: NetworksFile) throws(StateError) {
        try storeText(.networks, networks.encoded())
    }

    /// Writes when another device was last heard.
    package func store(contact: ContactFile) throws(StateError) {
        try storeText(.contact, contact.encoded())
    }

    /// Writes the latest calls by the static label.
    package func store(callers: CallersFile) throws(StateError) {
        try storeText(.callers, callers.encoded())
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

    private func storeText(_ file: StateFile, _ content: [UInt8]) throws(StateError) {
        try replace(file, SecretBytes(copying: TextSeal.sealed(content)))
    }

    /// The content of a text file; nil if there is none.
    private func readText(_ file: StateFile) throws(StateError) -> [UInt8]? {
        guard let bytes = try read(file) else { return nil }
        do throws(FileError) {
            return try TextSeal.content(of: bytes.exposedCopy())
        } catch {
            throw .textDamaged(path: path(of: file))
        }
    }

    /// A file that cannot be read costs a hint to the user, and is no reason not to start.
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
        // A line that is no claim costs its app a place, and is no reason not to start.
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
