import HandoffJSON
import HandoffModel
import Testing

@Suite struct LineageTests {
    private let id = ActivityID(checked: [UInt8](repeating: 0xA1, count: 16))

    @Test func `a payload contains the lineage and the exclusive flag, and an earlier one has neither`() throws {
        var content = try ActivityContent(type: #require(ActivityType("com.example.note")))
        #expect(content.encodedPayload()["lineage"] == nil)
        #expect(try ActivityContent(payload: content.encodedPayload()).lineage == nil)
        content.lineage = Lineage(id: id, step: 3)
        content.isExclusive = true
        let read = try ActivityContent(payload: content.encodedPayload())
        #expect(read.lineage == content.lineage && read.isExclusive)
    }

    @Test(
        arguments: [
            ["id": "a1", "step": 1], ["step": 1], ["id": 7, "step": 1], ["step": -1], ["step": 4_294_967_296],
            ["step": 1.0],
        ] as [JSONObject])
    func `an invalid lineage makes a payload invalid`(lineage: JSONObject) throws {
        var lineage = lineage
        if lineage["id"] == nil, lineage["step"] != 1 { lineage["id"] = .string(id.hex) }
        let payload: JSONObject = ["type": "com.example.note", "lineage": .object(lineage)]
        #expect(throws: ActivityError.self) { try ActivityContent(payload: payload) }
    }

    @Test func `the number of continuations does not overflow`() {
        #expect(Lineage(id: id, step: 0).next == Lineage(id: id, step: 1))
        #expect(Lineage(id: id, step: .max).next.step == .max)
    }
}
