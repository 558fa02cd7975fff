import HandoffModel
import Testing

struct HardwareAddressTests {
    @Test func `an address survives parsing and printing`() {
        let address = HardwareAddress("52:54:00:AB:cd:01")
        #expect(address?.bytes == [0x52, 0x54, 0, 0xAB, 0xCD, 1])
        #expect(address?.text == "52:54:00:ab:cd:01")
        for text in [
            "", "52:54:00:ab:cd", "52:54:00:ab:cd:01:02", "52:54:00:ab:cd:0", "+2:54:00:ab:cd:01", "00:00:00:00:00:00",
        ] {
            #expect(HardwareAddress(text) == nil, "\(text)")
        }
    }
}
