import HandoffAccount
import HandoffCrypto
import HandoffModel
import Testing

/// The name that a device is configured with, beside the one that its user gave it since.
@Suite struct ConfiguredNameTests {
    private func name(_ state: AccountState, of member: Member) -> String? { state.view.names[member.id] }

    @Test("a name that the user gave holds until another one is configured")
    func renaming() throws {
        var founder = try Member.founder()
        founder.state = try founder.state.configured(name: "desk", by: founder.key)
        #expect(name(founder.state, of: founder) == "desk")
        founder.state = try founder.state.naming(founder.id, "table", by: founder.key)

        founder.state = try founder.state.configured(name: "desk", by: founder.key)
        #expect(name(founder.state, of: founder) == "table")
        founder.state = try founder.state.configured(name: "board", by: founder.key)
        #expect(name(founder.state, of: founder) == "board")
    }

    @Test("a name that was taken out of the configuration, and stands there again, is another one")
    func without() throws {
        var founder = try Member.founder()
        founder.state = try founder.state.configured(name: "desk", by: founder.key)
        founder.state = try founder.state.naming(founder.id, "table", by: founder.key)
        founder.state = try founder.state.configured(name: nil, by: founder.key)
        #expect(name(founder.state, of: founder) == "table")
        founder.state = try founder.state.configured(name: "desk", by: founder.key)
        #expect(name(founder.state, of: founder) == "desk")
    }

    @Test("the file keeps it", arguments: [nil, "Küche 🏠", String(repeating: "x", count: 64)])
    func stored(configured: String?) throws {
        let founder = try Member.founder()
        let state = try founder.state.configured(name: configured, by: founder.key)
        #expect(try AccountState(decoding: state.encoded()).configuredName == configured)
    }

    @Test("files of former versions have none")
    func formerVersions() throws {
        let founder = try Member.founder()
        let state = try founder.state.configured(name: "desk", by: founder.key)
        for version: UInt16 in [1, 2] {
            #expect(try AccountState(decoding: state.encoded(version: version)).configuredName == nil)
        }
    }

    @Test("a file whose name is no text is refused")
    func broken() throws {
        let founder = try Member.founder()
        let state = try founder.state.configured(name: "x", by: founder.key)
        let content = state.encoded().exposedCopy()[16...].dropLast(SHA256.byteCount)
        let broken = AccountState.file(version: 3, content: content.dropLast() + [0xFF])
        #expect(throws: FileError.self) { try AccountState(decoding: broken) }
    }
}
