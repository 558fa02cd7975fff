import Glibc
import HandoffAccount
import HandoffCrypto
import HandoffModel
import HandoffState
import HandoffTestSupport
import Testing

@Suite struct StateFolderTests {
    let folder: ScratchStateFolder

    init() throws {
        folder = try ScratchStateFolder()
    }

    /// Opens the folder, stores a new account in it, and closes it.
    func prepare() throws {
        let stored = try StateFolder.open(folder.path, now: 1000)
        try stored.folder.store(
            account: AccountState.creating(device: stored.identity, name: "test", now: 1000))
        try stored.folder.store(peers: PeersFile().adding(#require(StaticAddress("10.0.0.1:24863"))))
    }

    @Test
    func `the first start creates a private folder, an identity and a number`() throws {
        let stored = try StateFolder.open(folder.path, now: 1000)
        #expect(stored.account == nil)
        #expect(stored.generation == 1000)
        #expect(folder.names == ["boot", "identity", "lock"])
        #expect(folder.mode("") == 0o700)
        for name in folder.names { #expect(folder.mode(name) == 0o600, "\(name)") }
    }

    @Test
    func `the next start finds the same device, account and peers, and a greater number`() throws {
        let first = try StateFolder.open(folder.path, now: 1000).identity.publicKey
        try prepare()
        let stored = try StateFolder.open(folder.path, now: 500)
        #expect(stored.identity.publicKey == first)
        #expect(stored.account?.view.live == [DeviceID(first)])
        #expect(stored.generation == 1002)
        #expect(stored.peers.addresses.map(\.text) == ["10.0.0.1:24863"])
    }

    @Test
    func `a second daemon on the folder is rejected, with the process id of the first`() throws {
        let first = try StateFolder.open(folder.path, now: 1000)
        let expected = StateError.inUse(path: folder.path, process: getpid())
        #expect(throws: expected) { try StateFolder.open(folder.path, now: 1000) }
        #expect(expected.description.contains("process id \(getpid())"))
        #expect(first.generation == 1000)
    }

    @Test
    func `the lock ends with its holder`() throws {
        do { _ = try StateFolder.open(folder.path, now: 1000) }
        #expect(try StateFolder.open(folder.path, now: 1000).generation == 1001)
    }

    @Test(arguments: [0o755, 0o750, 0o701] as [mode_t])
    func `a folder that others may enter is rejected`(_ mode: mode_t) throws {
        mkdir(folder.path, mode)
        chmod(folder.path, mode)
        #expect(throws: StateError.openToOthers(path: folder.path, mode: mode)) {
            try StateFolder.open(folder.path, now: 1000)
        }
        #expect(folder.names == [])
    }

    @Test(.enabled(if: geteuid() == 0, "only root can change the owner of a folder"))
    func `a folder of another user is rejected`() throws {
        mkdir(folder.path, 0o700)
        chown(folder.path, 1234, 1234)
        #expect(throws: StateError.wrongOwner(path: folder.path, owner: 1234)) {
            try StateFolder.open(folder.path, now: 1000)
        }
    }

    @Test
    func `a file in place of the folder is an error`() throws {
        let path = folder.path
        creat(path, 0o600)
        defer { unlink(path) }
        #expect(throws: StateError.self) { try StateFolder.open(path, now: 1000) }
    }

    @Test(arguments: ["identity", "account", "boot"])
    func `a file that was truncated or changed is rejected by name and left unchanged`(_ name: String) throws {
        try prepare()
        let whole = try #require(folder.read(name))
        var broken: [[UInt8]] = stride(from: 0, to: whole.count, by: 7).map { Array(whole.prefix($0)) }
        for index in stride(from: 0, to: whole.count, by: 5) {
            broken.append(whole)
            broken[broken.count - 1][index] ^= 0x40
        }
        for bytes in broken {
            try folder.write(name, bytes)
            let error = #expect(throws: StateError.self) { try StateFolder.open(folder.path, now: 1000) }
            #expect(error?.description.contains("\(folder.path)/\(name)") == true)
            let isUntouched = folder.read(name) == bytes
            #expect(isUntouched, "\(bytes.count) of \(whole.count) bytes")
        }
        try folder.write(name, whole)
        #expect(try StateFolder.open(folder.path, now: 1000).account != nil)
    }

    @Test
    func `an invalid list of peers is rejected with its line and left unchanged`() throws {
        try prepare()
        let bytes = Array("# mine\n10.0.0.1:24863\nnonsense\n".utf8)
        try folder.write("peers", bytes)
        #expect(throws: StateError.badPeer(path: folder.path + "/peers", line: 3)) {
            try StateFolder.open(folder.path, now: 1000)
        }
        #expect(folder.read("peers") == bytes)
    }

    @Test
    func `an account without its identity is rejected, and no new identity is created`() throws {
        try prepare()
        folder.remove("identity")
        let expected = StateError.identityMissing(
            path: folder.path + "/identity", account: folder.path + "/account")
        #expect(throws: expected) { try StateFolder.open(folder.path, now: 1000) }
        #expect(!folder.exists("identity"))
    }

    @Test
    func `an account of another identity is rejected`() throws {
        try prepare()
        let other = IdentityFile.encode(seed: try SecretBytes(random: 32)).exposedCopy()
        try folder.write("identity", other)
        let error = #expect(throws: StateError.self) { try StateFolder.open(folder.path, now: 1000) }
        guard case .foreignIdentity = error else {
            Issue.record("another error: \(String(describing: error))")
            return
        }
        #expect(folder.read("identity") == other)
    }

    @Test
    func `files partly written by a crash are deleted, and the complete ones remain`() throws {
        try prepare()
        let account = folder.read("account")
        for name in [".account.new", ".identity.new", ".boot.new", ".peers.new"] {
            try folder.write(name, Array((account ?? []).prefix(100)))
        }
        let stored = try StateFolder.open(folder.path, now: 1000)
        #expect(folder.names == ["account", "boot", "identity", "joined", "lock", "peers"])
        #expect(folder.read("account") == account)
        #expect(stored.account != nil)
    }

    @Test
    func `leaving the account removes its file and the device starts without one`() throws {
        try prepare()
        do {
            let stored = try StateFolder.open(folder.path, now: 1000)
            _ = try stored.folder.resetIdentity()
            _ = try stored.folder.resetIdentity()
        }
        #expect(try StateFolder.open(folder.path, now: 1000).account == nil)
    }

    @Test
    func `a link or a pipe in place of a file is rejected without blocking`() throws {
        try prepare()
        folder.remove("account")
        mkfifo(folder.path + "/account", 0o600)
        #expect(throws: StateError.self) { try StateFolder.open(folder.path, now: 1000) }
        folder.remove("account")
        symlink("/etc/hostname", folder.path + "/account")
        #expect(throws: StateError.self) { try StateFolder.open(folder.path, now: 1000) }
    }

    @Test(arguments: ["account", "identity", "boot", "peers", "lock"])
    func `a link is rejected even if it leads to a valid file`(_ name: String) throws {
        try prepare()
        let elsewhere = folder.beside("elsewhere")
        defer { unlink(elsewhere) }
        #expect(rename("\(folder.path)/\(name)", elsewhere) == 0 && symlink(elsewhere, "\(folder.path)/\(name)") == 0)
        #expect(throws: StateError.self) { try StateFolder.open(folder.path, now: 1000) }
    }

    @Test
    func `on a full disk the old file stays, no partly written one remains, and the store fails`() async throws {
        // In its own process, because the limit applies to the process: no file may exceed 200
        // bytes.
        await #expect(processExitsWith: .success) {
            let folder = try ScratchStateFolder()
            let stored = try StateFolder.open(folder.path, now: 1000)
            let identity = folder.read("identity")
            signal(SIGXFSZ, SIG_IGN)
            var limit = rlimit(rlim_cur: 200, rlim_max: .max)
            #expect(setrlimit(__rlimit_resource_t(1), &limit) == 0)  // RLIMIT_FSIZE
            let account = try AccountState.creating(device: stored.identity, name: "test", now: 1000)
            let error = #expect(throws: StateError.self) { try stored.folder.store(account: account) }
            #expect(error?.description.hasPrefix("cannot write \(folder.path)/account: ") == true)
            #expect(folder.names == ["boot", "identity", "lock"])
            #expect(folder.read("identity") == identity)

            limit.rlim_cur = .max
            #expect(setrlimit(__rlimit_resource_t(1), &limit) == 0)
            try stored.folder.store(account: account)
            let first = folder.read("account")
            limit.rlim_cur = 200
            #expect(setrlimit(__rlimit_resource_t(1), &limit) == 0)
            let renamed = try account.naming(DeviceID(stored.identity.publicKey), "other", by: stored.identity)
            #expect(throws: StateError.self) { try stored.folder.store(account: renamed) }
            #expect(folder.read("account") == first)
            #expect(folder.names == ["account", "boot", "identity", "joined", "lock"])
        }
    }
}
