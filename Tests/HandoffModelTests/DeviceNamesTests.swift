import HandoffModel
import Testing

@Suite struct DeviceNamesTests {
    private static func id(_ hex: String) -> DeviceID {
        DeviceID(hex: hex + String(repeating: "0", count: 64 - hex.count)) ?? DeviceID(checked: [])
    }

    private static let first = id("3f9c2ab1")
    private static let second = id("81ab23cd")
    private static let third = id("a0b0c0d0")

    @Test(arguments: [
        ("Laptop", "Laptop"), ("Laptop", " lap\u{200D}TOP "), ("Caf\u{E9}", "Cafe\u{301}"),
    ])
    func `confusable names are shown with their ids`(_ one: String, _ other: String) {
        let names = DeviceNames([Self.first: one, Self.second: other, Self.third: "Phone"])
        #expect(names.label(of: Self.first) == "\(one) (3f9c2ab)")
        #expect(names.label(of: Self.second) == "\(other) (81ab23c)")
        #expect(names.label(of: Self.third) == "Phone")
    }

    @Test func `ids with a common prefix are shown up to where they differ`() {
        let similar = Self.id("3f9c2ab2")
        let names = DeviceNames([Self.first: "Laptop", similar: "Laptop"])
        #expect(names.label(of: Self.first) == "Laptop (3f9c2ab1)")
        #expect(names.label(of: similar) == "Laptop (3f9c2ab2)")
    }

    @Test func `a name in the form of a label is not mistaken for another device`() {
        let names = DeviceNames([Self.first: "Laptop", Self.second: "Laptop (3f9c2ab)", Self.third: "Desk (work)"])
        #expect(names.label(of: Self.second) == "Laptop (3f9c2ab) (81ab23c)")
        #expect(names.label(of: Self.third) == "Desk (work)")
        #expect(names.choose("Laptop (3f9c2ab)") == .ambiguous([Self.first, Self.second]))
        #expect(names.choose("Laptop (3f9c2ab) (81ab23c)") == .one(Self.second))
    }

    @Test func `devices without a name are shown by their ids and are not confusable`() {
        let names = DeviceNames([Self.first: "", Self.second: ""])
        #expect(names.label(of: Self.first) == "3f9c2ab")
        #expect(names.fullLabel(of: Self.first) == "unnamed (3f9c2ab)")
        #expect(names.choose("unnamed") == .nothing)
    }

    private static let choices: [(String, DeviceNames.Choice)] = [
        ("Laptop", .ambiguous([first, second])), ("Phone", .one(third)), ("phone", .nothing), ("", .nothing),
        ("3f9c", .one(first)), ("3F-9c:2A b", .one(first)), ("3f9", .nothing), ("zzzz", .nothing),
        ("Laptop (3f9c2ab)", .one(first)), ("Laptop (81AB)", .one(second)), ("Laptop (a0b0)", .nothing),
        ("Phone (a0b0c0d)", .one(third)), ("Laptop (3f9)", .nothing), ("Laptop ()", .nothing), ("()", .nothing),
        (second.hex, .one(second)), (second.grouped, .one(second)), (id("77").hex, .nothing),
    ]

    @Test(arguments: choices)
    func `a text selects one device or none or is ambiguous`(_ text: String, _ expected: DeviceNames.Choice) {
        let names = DeviceNames([Self.first: "Laptop", Self.second: "Laptop", Self.third: "Phone"])
        #expect(names.choose(text) == expected)
    }

    @Test func `a device named like another's id does not hide it`() {
        let names = DeviceNames([Self.first: Self.second.hex, Self.second: "Laptop"])
        #expect(names.choose(Self.second.hex) == .one(Self.second))
        #expect(names.choose(Self.first.hex) == .one(Self.first))
    }

    @Test func `a name with the device's id is recognized as a label`() {
        #expect(DeviceNames.isLabel("Laptop (3f9c2ab)", of: Self.first))
        #expect(!DeviceNames.isLabel("Laptop (3f9c2ab)", of: Self.second))
        #expect(!DeviceNames.isLabel("Laptop", of: Self.first))
    }
}
