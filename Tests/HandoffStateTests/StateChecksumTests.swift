import HandoffAccount
import HandoffControl
import HandoffHandlers
import HandoffModel
import HandoffState
import HandoffTestSupport
import LoopIO
import Testing

/// Damage that leaves a state file readable, and missing files.
@Suite struct StateChecksumTests {
    let folder: ScratchStateFolder

    init() throws {
        folder = try ScratchStateFolder()
    }

    /// The content of a text file of each kind.
    private static func content(of stored: StoredState) -> [String] {
        [
            "\(stored.apps)", "\(stored.switches.entries)", "\(stored.peers.addresses)", "\(stored.networks.entries)",
            String(decoding: stored.claims.encoded, as: UTF8.self),
        ]
    }

    /// Stores a value in each text file.
    private func prepare() throws {
        let stored = try StateFolder.open(folder.path, now: 1000)
        var apps = AppSwitches()
        apps.disabled = [try #require(AppID("com.example.editor"))]
        try stored.folder.store(apps: apps)
        var switches = Switches()
        switches.turnOff(
            Switches.Place(.advertise), seconds: nil,
            at: SwitchMoment(unixSeconds: 1_700_000_000, instant: MonotonicInstant(nanoseconds: 0)))
        try stored.folder.store(switches: switches)
        try stored.folder.store(peers: PeersFile().adding(#require(StaticAddress("10.0.0.1:24863"))))
        var networks = NetworksFile()
        networks.add(try #require(HardwareAddress("02:00:00:00:00:01")), name: "Home")
        try stored.folder.store(networks: networks)
        try stored.folder.store(
            claims: ClaimHistory(decoding: Array("com.example.editor type com.example.editing\n".utf8)))
    }

    @Test(arguments: ["apps", "switches", "peers", "networks", "claims"])
    func `a changed bit of a text file is never accepted as other content`(_ name: String) throws {
        try prepare()
        let whole = try #require(folder.read(name))
        let content = Self.content(of: try StateFolder.open(folder.path, now: 1000))
        for index in whole.indices {
            for bit in 0..<8 {
                var bytes = whole
                bytes[index] ^= 1 << bit
                try folder.write(name, bytes)
                guard let stored = try? StateFolder.open(folder.path, now: 1000) else { continue }
                let found = Self.content(of: stored)
                #expect(found == content, "bit \(bit) of byte \(index)")
            }
        }
    }

    @Test(arguments: ["apps", "switches", "peers", "networks", "claims"])
    func `a text file truncated at any byte is rejected by name`(_ name: String) throws {
        try prepare()
        let whole = try #require(folder.read(name))
        // The first eight bytes alone are the start of a comment.
        for count in 8..<whole.count {
            try folder.write(name, Array(whole.prefix(count)))
            let error = #expect(throws: StateError.self) { try StateFolder.open(folder.path, now: 1000) }
            #expect(error?.description.contains("\(folder.path)/\(name)") == true, "\(count) bytes")
        }
    }

    @Test(arguments: ["apps", "switches", "peers", "networks", "claims"])
    func `a text file without its first line, as earlier versions wrote it, is accepted`(_ name: String) throws {
        try prepare()
        let whole = try #require(folder.read(name))
        let content = Self.content(of: try StateFolder.open(folder.path, now: 1000))
        let end = try #require(whole.firstIndex(of: UInt8(ascii: "\n")))
        try folder.write(name, Array(whole[(end + 1)...]))
        let found = Self.content(of: try StateFolder.open(folder.path, now: 1000))
        #expect(found == content)
    }

    @Test
    func `a file that was edited is rejected with its path`() throws {
        try prepare()
        let bytes = try #require(folder.read("peers")) + Array("10.0.0.2:24863\n".utf8)
        try folder.write("peers", bytes)
        let error = #expect(throws: StateError.self) { try StateFolder.open(folder.path, now: 1000) }
        #expect(error == .textDamaged(path: folder.path + "/peers"))
        #expect(folder.read("peers") == bytes)
    }

    @Test
    func `a deleted account file is an error while its identity exists`() throws {
        do {
            let stored = try StateFolder.open(folder.path, now: 1000)
            try stored.folder.store(
                account: AccountState.creating(device: stored.identity, name: "test", now: 1000))
        }
        let account = try #require(folder.read("account"))
        folder.remove("account")
        let expected = StateError.accountMissing(path: folder.path + "/account", identity: folder.path + "/identity")
        #expect(throws: expected) { try StateFolder.open(folder.path, now: 1000) }
        try folder.write("account", account)
        #expect(try StateFolder.open(folder.path, now: 1000).account != nil)
    }

    @Test
    func `a deleted account file of an earlier version is an error after one start`() throws {
        do {
            let stored = try StateFolder.open(folder.path, now: 1000)
            try stored.folder.store(
                account: AccountState.creating(device: stored.identity, name: "test", now: 1000))
        }
        folder.remove("joined")
        _ = try StateFolder.open(folder.path, now: 1000)
        folder.remove("account")
        #expect(throws: StateError.self) { try StateFolder.open(folder.path, now: 1000) }
    }

    @Test
    func `without identity and account the device starts as a new one`() throws {
        do {
            let stored = try StateFolder.open(folder.path, now: 1000)
            try stored.folder.store(
                account: AccountState.creating(device: stored.identity, name: "test", now: 1000))
        }
        folder.remove("account")
        folder.remove("identity")
        #expect(try StateFolder.open(folder.path, now: 1000).account == nil)
        #expect(try StateFolder.open(folder.path, now: 1000).account == nil)
    }

    @Test
    func `a device that has left its account starts without one`() throws {
        do {
            let stored = try StateFolder.open(folder.path, now: 1000)
            try stored.folder.store(
                account: AccountState.creating(device: stored.identity, name: "test", now: 1000))
            _ = try stored.folder.resetIdentity()
        }
        #expect(!folder.exists("joined"))
        #expect(try StateFolder.open(folder.path, now: 1000).account == nil)
    }
}
