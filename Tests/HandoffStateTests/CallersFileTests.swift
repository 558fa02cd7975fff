import HandoffAccount
import HandoffModel
import HandoffState
import Testing

@Suite struct CallersFileTests {
    private let devices = [UInt8(1), 2].compactMap { DeviceID(bytes: [UInt8](repeating: $0, count: 32)) }

    @Test func `the latest calls are read back as written`() throws {
        let file = CallersFile(latest: [
            devices[0]: Gate.Serial(generation: 1_800_000_000, call: 7),
            devices[1]: Gate.Serial(generation: .max, call: .max),
        ])
        #expect(CallersFile(decoding: file.encoded()) == file)
        #expect(CallersFile(decoding: CallersFile().encoded()) == CallersFile())
    }

    @Test func `an invalid line is ignored and the others are read`() {
        let line = "\(devices[0].hex) 5 6"
        let other = devices[1].hex
        for invalid in ["", "x 5 6", "\(other) 5", "\(other) -1 6", "\(other) 5 4294967296"] {
            let file = CallersFile(decoding: Array("\(invalid)\n\(line)\n".utf8))
            #expect(file.latest == [devices[0]: Gate.Serial(generation: 5, call: 6)], "\(invalid)")
        }
    }
}
