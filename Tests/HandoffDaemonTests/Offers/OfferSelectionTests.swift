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
    func `a prefix matches one offer, several or none`(prefix: String?, expected: String) {
        #expect(choose(prefix) == expected)
    }

    @Test func `a complete id is never ambiguous`() {
        #expect(choose(offers[1].hex) == "13")
    }

    @Test func `an id that two devices offer selects neither, because one of them copied it`() {
        let id = offers[1]
        let outcome = OfferSelection.choose([id, offers[0], id], prefix: id.hex, id: { $0 })
        guard case .ambiguous(let ids) = outcome else {
            Issue.record("chose one")
            return
        }
        #expect(ids == [id.hex, id.hex])
    }
}
