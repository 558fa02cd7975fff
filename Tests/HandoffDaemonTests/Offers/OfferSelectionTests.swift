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

    @Test func `an id that two devices offer means neither: one of them has taken the other's`() {
        let id = offers[1]
        let outcome = OfferSelection.choose([id, offers[0], id], prefix: id.hex, id: { $0 })
        guard case .ambiguous(let ids) = outcome else {
            Issue.record("chose one")
            return
        }
        #expect(ids == [id.hex, id.hex])
    }

    @Test func `a device is meant by its name or the beginning of its id`() {
        let id = DeviceID(checked: [0xAB, 0xCD] + Array(repeating: 0, count: 30))
        #expect(OfferSelection.means("laptop", id: id, name: "laptop"))
        #expect(OfferSelection.means("ABCD", id: id, name: "laptop"))
        #expect(!OfferSelection.means("abc", id: id, name: "laptop"))
        #expect(!OfferSelection.means("Laptop", id: id, name: "laptop"))
        // Who is called like another's id is not meant by it.
        let other = DeviceID(checked: Array(repeating: 1, count: 32))
        #expect(OfferSelection.means(id.hex, id: id, name: "laptop"))
        #expect(!OfferSelection.means(id.hex, id: other, name: id.hex))
    }
}
