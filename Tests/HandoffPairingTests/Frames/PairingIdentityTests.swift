import HandoffPairing
import Testing

struct PairingIdentityTests {
    @Test(arguments: [
        ("laptop", "laptop"), ("", "device"),
        (String(repeating: "a", count: 65), String(repeating: "a", count: 64)),
        // 21 of these have 63 bytes, 22 would have 66.
        (String(repeating: "あ", count: 30), String(repeating: "あ", count: 21)),
        (String(repeating: "🏠", count: 17), String(repeating: "🏠", count: 16)),
    ])
    func `a name is truncated between characters`(_ name: String, _ fitting: String) {
        #expect(PairingIdentity.fitting(name) == fitting)
        #expect(PairingIdentity.fitting(name).utf8.count <= PairingIdentity.maxName)
    }
}
