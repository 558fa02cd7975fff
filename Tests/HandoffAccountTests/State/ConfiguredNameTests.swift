import HandoffAccount
import HandoffCrypto
import HandoffModel
import Testing

/// The configured name of a device, and the name that its user gave it since.
@Suite struct ConfiguredNameTests {
    private func name(_ state: AccountState, of member: Member) -> String? { state.view.names[member.id] }

    @Test
    func `a name given by the user remains until another one is configured`() throws {
        var founder = try Member.founder()
        founder.state = try founder.state.configured(name: "desk", by: founder.key)
        #expect(name(founder.state, of: founder) == "desk")
        founder.state = try founder.state.naming(founder.id, "table", by: founder.key)

        founder.state = try founder.state.configured(name: "desk", by: founder.key)
        #expect(name(founder.state, of: founder) == "table")
        founder.state = try founder.state.configured(name: "board", by: founder.key)
        #expect(name(founder.state, of: founder) == "board")
    }

    @Test
    func `a name that was removed from the configuration and added again counts as a change`() throws {
        var founder = try Member.founder()
        founder.state = try founder.state.configured(name: "desk", by: founder.key)
        founder.state = try founder.state.naming(founder.id, "table", by: founder.key)
        founder.state = try founder.state.configured(name: nil, by: founder.key)
        #expect(name(founder.state, of: founder) == "table")
        founder.state = try founder.state.configured(name: "desk", by: founder.key)
        #expect(name(founder.state, of: founder) == "desk")
    }

    @Test(arguments: [nil, "Küche 🏠", String(repeating: "x", count: 64)])
    func `the file preserves the configured name`(configured: String?) throws {
        let founder = try Member.founder()
        let state = try founder.state.configured(name: configured, by: founder.key)
        #expect(try AccountState(decoding: state.encoded()).configuredName == configured)
    }

    @Test
    func `a file whose name is not text is rejected`() throws {
        let founder = try Member.founder()
        let state = try founder.state.configured(name: "x", by: founder.key)
        let content = state.encoded().exposedCopy()[16...].dropLast(SHA256.byteCount)
        var file = Array(state.encoded().exposedCopy().prefix(16)) + content.dropLast() + [0xFF]
        file += SHA256.hash(file)
        #expect(throws: FileError.invalid("a name is not UTF-8")) {
            try AccountState(decoding: SecretBytes(copying: file))
        }
    }
}
