import HandoffAccount
import HandoffCrypto
import HandoffModel
import HandoffProtocol
import Testing

/// The bytes that docs/protocol.md reserves for activities kept by another device. No program
/// creates them yet.
@Suite struct KeptVectorTests {
    @Test func `a copy has the bytes of the vector`() throws {
        let vectors = try ProtocolVectors("kept")
        let key = try SigningKey(seed: SecretBytes(copying: vectors["seed"]))
        let payload = try vectors["payload"]
        var head = ByteWriter()
        head.raw(DeviceID(key.publicKey).bytes)
        head.u64(1_800_000_000)
        head.u32(5)
        head.raw(Array(0x50...0x5F))
        head.u64(1_800_000_060)
        head.u64(1_800_086_460)
        #expect(head.bytes.count == 76)
        let signature = try key.sign(Array("handoff/1 kept\u{0}".utf8) + head.bytes + payload)
        #expect(try head.bytes + signature + payload == vectors["copy"])
    }
}
