import HandoffBrowser
import HandoffControl
import HandoffJSON
import HandoffModel
import Testing

@Suite struct PopupAnswerTests {
    @Test func `devices are named as the daemon shows them`() throws {
        let ids = [1, 2].map { DeviceID(checked: [UInt8](repeating: $0, count: DeviceID.byteCount)) }
        let devices = [
            ControlDevice(
                id: ids[0], name: "Laptop", label: "Laptop (0101010)", kind: .laptop, isSelf: true, online: true),
            ControlDevice(
                id: ids[1], name: "Laptop", label: "Laptop (0202020)", kind: .laptop, isSelf: false, online: true),
        ]
        let status = ControlStatus(
            daemon: "handoffd/1", device: ids[0], name: "Laptop", kind: .laptop, account: nil, epoch: nil,
            discovery: "embedded", discoveryState: "running", port: 24863, peers: [], published: 0, offered: 0,
            tickets: [], warnings: [])
        let json = PopupAnswer.status(status, devices).json
        #expect(json["name"] == "Laptop (0101010)")
        let shown = try #require(json["devices"]?.array?.first?.object)
        #expect(shown["name"] == "Laptop (0202020)" && shown["id"] == .string(ids[1].hex))
    }
    @Test func `a recent activity has its state, and is marked if it is of this device`() throws {
        let device = DeviceID(checked: [UInt8](repeating: 1, count: DeviceID.byteCount))
        let activity = OfferedActivity(
            id: ActivityID(checked: [UInt8](repeating: 2, count: ActivityID.byteCount)), type: .browsingWeb,
            title: "Page", team: nil, device: device, deviceName: "Laptop", deviceKind: .laptop, streams: true,
            hasWebpageURL: true, age: 1, opens: ControlOpens(kind: .web),
            kept: ControlKept(.ended, since: nil, asOf: 1_700_000_000))
        func fields(_ answer: PopupAnswer) throws -> JSONObject {
            try #require(answer.json["offers"]?.array?.first?.object)
        }
        let own = try fields(.recent([activity], own: device))
        #expect(own["isOwn"] == true && own["streams"] == true)
        #expect(own["kept"]?.object?["state"] == "ended" && own["kept"]?.object?["asOf"]?.number == 1_700_000_000)
        #expect(try fields(.offers([activity]))["isOwn"] == false)
    }
}
