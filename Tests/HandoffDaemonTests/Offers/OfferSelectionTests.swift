import HandoffDaemon
import HandoffModel
import Testing

struct OfferSelectionTests {
    private let offers = [0x12, 0x13, 0xAB].map { ActivityID(checked: [$0] + Array(repeating: 9, count: 15)) }

    private func choose(_ prefix: String?) -> String {
        switch OfferSelection.choose(offers, prefix: prefix, id: { $0 }) {
        case .one(let id): String(id.hex.prefix(2))
        case .nothing: "nothing"
        case .ambiguous(let ids): "ambiguous \(ids.count)"
        }
    }

    @Test(
        arguments: [
            (nil, "12"), ("1", "ambiguous 2"), ("12", "12"), ("AB", "ab"), ("ab09-0909", "ab"), ("cc", "nothing"),
            ("", "nothing"),
            ("zz", "nothing"),
        ] as [(String?, String)])
    func `a prefix means one offer, several or none`(prefix: String?, expected: String) {
        #expect(choose(prefix) == expected)
    }

    @Test func `a whole id is never ambiguous`() {
        #expect(choose(offers[1].hex) == "13")
    }

    @Test func `a device is meant by its name or the beginning of its id`() {
        let id = DeviceID(checked: [0xAB, 0xCD] + Array(repeating: 0, count: 30))
        #expect(OfferSelection.means("laptop", id: id, name: "laptop"))
        #expect(OfferSelection.means("ABCD", id: id, name: "laptop"))
        #expect(!OfferSelection.means("abc", id: id, name: "laptop"))
        #expect(!OfferSelection.means("Laptop", id: id, name: "laptop"))
    }
}
