import HandoffControl
import HandoffDaemon
import HandoffModel
import LoopIO
import Testing

/// Changes that a reloaded configuration makes in a running daemon.
@Suite final class ReloadTests {
    private let fleet: Fleet

    init() throws {
        fleet = try Fleet()
    }

    deinit {
        fleet.end()
    }

    @Test func `the lifetime of activities applies to existing ones`() throws {
        let devices = try fleet.account("desk", "couch") { $0.configuration.activityLifetime = nil }
        let watcher = try devices[1].watch()
        try watcher.ready()
        let id = try devices[0].attach("Editor").engage(Note.activity("left alone"))
        #expect(try watcher.added().id == id)

        devices[0].reconfigure { $0.activityLifetime = .seconds(60) }
        fleet.pass(.seconds(61))

        #expect(try watcher.removed().id == id)
    }

    @Test func `the timeout of a save request follows the configuration`() throws {
        let devices = try fleet.account("desk", "couch") { $0.configuration.saveAnswer = .seconds(3600) }
        let (desk, couch) = (devices[0], devices[1])
        let editor = try desk.attach("Editor")
        let id = try editor.engageInUnsaved("last saved")
        try fleet.poll("the offer arrives") { try couch.offers().count == 1 }
        desk.reconfigure { $0.saveAnswer = .seconds(1) }

        let call = try couch.continue(ContinueRequest(take: true))
        _ = try call.result()
        #expect(try editor.save() == id)
        fleet.pass(.seconds(1))

        guard case .continued(_, let content?, _, _, _) = try ContinueEvent(json: call.result()) else {
            throw UnexpectedEvent()
        }
        #expect(content.userInfo == Note.userInfo("last saved"))
    }

    @Test func `the interval of save requests follows the configuration`() throws {
        let desk = try fleet.device("desk") { $0.configuration.refresh = .seconds(3600) }
        _ = try desk.call(.createAccount)
        let editor = try desk.attach("Editor")
        let id = try editor.engageInUnsaved("saved once")

        desk.reconfigure { $0.refresh = .seconds(2) }
        fleet.pass(.seconds(2))

        #expect(try editor.save() == id)
    }

    @Test func `settings that take effect at the next start are logged`() throws {
        let desk = try fleet.device("desk")
        desk.reconfigure { $0.titles = false }
        #expect(!desk.log.contains { $0.contains("next start") })
        desk.reconfigure { configuration in
            configuration.port = .standard
            configuration.name = "table"
        }
        #expect(desk.log.last?.hasSuffix("take effect only at the next start settings=\"name, port\"") == true)
    }

    @Test func `fewer messages are logged`() throws {
        let desk = try fleet.device("desk")
        _ = try desk.call(.createAccount)
        #expect(!desk.log.isEmpty)
        desk.reconfigure { $0.logLevel = .fault }
        let before = desk.log
        _ = try desk.call(.leaveAccount)
        try fleet.poll("the desk has left") { try desk.status().account == nil }
        #expect(desk.log == before)
    }
}
