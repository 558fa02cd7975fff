import HandoffControl
import HandoffJSON
import HandoffModel
import Testing

/// How devices become an account, by whole daemons.
@Suite struct JoiningTests {
    @Test func joinsByTicketAndSeesTheFirstActivity() throws {
        let fleet = try Fleet()
        let desk = try fleet.device("desk")
        let couch = try fleet.device("couch")
        let account = try #require(try desk.call(.createAccount)["account"]?.string)
        let published = try desk.publish(ActivityDescription(type: "org.example.note"))
        let watcher = try couch.watch()
        try watcher.ready()

        try couch.importAccount(try desk.exportAccount())
        let offer = try watcher.added()

        #expect(offer.id == published.activity)
        #expect(offer.deviceName == "desk")
        #expect(try couch.status().account?.hex == account)
        try fleet.settle([desk, couch])
    }
}
