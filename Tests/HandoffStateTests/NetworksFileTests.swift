import HandoffModel
import HandoffState
import Testing

struct NetworksFileTests {
    private func gateway(_ last: UInt8) throws -> HardwareAddress {
        try #require(HardwareAddress(bytes: [2, 0, 0, 0, 0, last]))
    }

    @Test func `networks are read back in their order`() throws {
        var file = NetworksFile()
        file.add(try gateway(2), name: "At home")
        file.add(try gateway(1), name: "")
        #expect(String(decoding: file.encoded(), as: UTF8.self) == "02:00:00:00:00:02 At home\n02:00:00:00:00:01 \n")
        #expect(try NetworksFile(decoding: file.encoded()) == file)
        file.add(try gateway(2), name: "Home")
        #expect(file.entries.map(\.name) == ["Home", ""])
        file.remove(try gateway(2))
        #expect(file.entries.map(\.gateway) == [try gateway(1)])
        #expect(try NetworksFile(decoding: Array("# mine\n\n02:00:00:00:00:0A x\n".utf8)).entries.count == 1)
    }

    @Test func `an invalid line is reported`() throws {
        for text in ["02:00:00:00:00:01 a", "\nx\n", "02:00:00:00:00 a\n", "zz\n", " \n"] {
            #expect(throws: PeersFile.BadLine.self, "\(text)") { try NetworksFile(decoding: Array(text.utf8)) }
        }
    }

    @Test func `the number of networks is limited`() throws {
        var file = NetworksFile()
        for number in 1...NetworksFile.maxEntries {
            let bytes = [2, 0, 0, 0, UInt8(number / 256), UInt8(number % 256)]
            let gateway = try #require(HardwareAddress(bytes: bytes))
            let isAdded = file.add(gateway, name: "")
            #expect(isAdded)
        }
        let isAdded = file.add(try #require(HardwareAddress(bytes: [4, 0, 0, 0, 0, 0])), name: "")
        #expect(!isAdded)
        let isRenamed = file.add(try gateway(1), name: "again")
        #expect(isRenamed, "a known network was refused")
    }
}
