import HandoffPairing
import Testing

struct PairingRefusalTests {
    static let all: [(PairingRefusal, [UInt8])] = [
        (.wrongCode, [1]), (.codeEnded, [2]), (.windowClosed, [3]), (.busy(seconds: 258), [4, 1, 2]), (.declined, [5]),
        (.cancelled, [6]), (.alreadyMember, [7]), (.removed, [8]), (.accountFull, [9]), (.failed, [10]),
    ]

    @Test(arguments: all)
    func `every reason has its body`(_ reason: PairingRefusal, _ body: [UInt8]) {
        #expect(reason.body == body)
        #expect(PairingRefusal(body: body) == reason)
    }

    @Test(arguments: [0, 11, 12, 255] as [UInt8])
    func `reasons of later versions become failed`(_ code: UInt8) {
        #expect(PairingRefusal(body: [code]) == .failed)
    }

    @Test(arguments: [[], [4], [4, 1], [4, 1, 2, 3], [1, 0], [1, 0, 0], [0, 0]] as [[UInt8]])
    func `other lengths are rejected`(_ body: [UInt8]) {
        #expect(PairingRefusal(body: body) == nil)
    }
}
