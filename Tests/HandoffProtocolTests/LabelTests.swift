import HandoffProtocol
import Testing

@Suite struct LabelTests {
    @Test func `an instance name is base32 and survives encoding and decoding`() throws {
        let label = try #require(Label(bytes: 0..<16))
        #expect(label.instanceName == "aaaqeayeaudaocajbifqydiob4")
        #expect(Label(instanceName: label.instanceName) == label)
        #expect(Label(instanceName: label.instanceName.uppercased()) == label)
    }

    @Test(arguments: [
        "", "My Printer", "aaaqeayeaudaocajbifqydiob", "aaaqeayeaudaocajbifqydiob4a", "aaaqeayeaudaocajbifqydiob5",
        "0aaqeayeaudaocajbifqydiob4",
    ])
    func `other names are not labels`(name: String) {
        #expect(Label(instanceName: name) == nil)
    }
}
