import HandoffState
import HandoffTestSupport
import Testing

@Suite struct StatePlaceTests {
    static let managed = "/home/u/.config/handoff/state"
    static let usual = "/home/u/.local/state/handoff/state"

    struct Case: Sendable {
        let title: String
        var given: String?
        var environment: [String: String] = ["HOME": "/home/u"]
        var identities: Set<String> = []
        let path: String
        var ignored: String?
    }

    static let cases = [
        Case(title: "the command line", given: "/x", environment: ["STATE_DIRECTORY": "/s"], path: "/x"),
        Case(title: "systemd", environment: ["HOME": "/home/u", "STATE_DIRECTORY": "/s"], path: "/s"),
        Case(title: "systemd, a list", environment: ["STATE_DIRECTORY": "/s:/t"], path: "/s"),
        Case(title: "the usual place", path: usual),
        Case(
            title: "XDG_STATE_HOME", environment: ["HOME": "/home/u", "XDG_STATE_HOME": "/d"], path: "/d/handoff/state"),
        Case(title: "the folder of older systemd versions", identities: [managed], path: managed),
        Case(title: "a folder for configuration only", identities: [], path: usual),
        Case(title: "two identities", identities: [managed, usual], path: managed, ignored: usual),
        Case(
            title: "systemd and another identity", environment: ["HOME": "/home/u", "STATE_DIRECTORY": managed],
            identities: [usual], path: managed, ignored: usual),
        Case(
            title: "XDG_CONFIG_HOME", environment: ["HOME": "/home/u", "XDG_CONFIG_HOME": "/c"],
            identities: ["/c/handoff/state"], path: "/c/handoff/state"),
        Case(title: "a relative path", environment: ["HOME": "/home/u", "XDG_STATE_HOME": "d"], path: usual),
    ]

    @Test(arguments: cases)
    func `the state folder is found by the first rule that applies`(_ test: Case) throws {
        let place = try StatePlace.choose(
            given: test.given, environment: { test.environment[$0] }, hasIdentity: test.identities.contains)
        #expect(place.path == test.path, "\(test.title)")
        #expect(place.ignored == test.ignored, "\(test.title)")
    }

    @Test
    func `without any hint no folder is chosen`() {
        #expect(throws: StateError.noStatePath) { try StatePlace.choose(given: nil, environment: { _ in nil }) }
    }

    @Test
    func `an identity file marks a state folder`() throws {
        let folder = try ScratchStateFolder()
        #expect(!StatePlace.hasIdentity(folder.path))
        _ = try StateFolder.open(folder.path, now: 1)
        #expect(StatePlace.hasIdentity(folder.path))
    }
}
