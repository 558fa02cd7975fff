import HandoffPairing
import Testing

struct PairingFrameDecoderTests {
    private static let all = Set(PairingFrameKind.allCases)

    @Test(arguments: PairingFrameKind.allCases)
    func `a frame of any length that its kind allows is read in any pieces`(_ kind: PairingFrameKind) throws {
        for count in Set([kind.bodyCount.lowerBound, min(kind.bodyCount.upperBound, 4_000)]) {
            let frame = PairingFrame(kind, [UInt8](repeating: 9, count: count))
            for cut in [1, 3, 7, 5_000] {
                var decoder = PairingFrameDecoder(kinds: [kind])
                var read: [PairingFrame] = []
                for start in stride(from: 0, to: frame.encoded.count, by: cut) {
                    decoder.append(frame.encoded[start..<min(start + cut, frame.encoded.count)])
                    while let next = try decoder.next() { read.append(next) }
                }
                #expect(read == [frame])
                #expect(decoder.buffered == 0)
            }
        }
    }

    @Test(arguments: PairingFrameKind.allCases)
    func `other lengths are rejected before the body arrives`(_ kind: PairingFrameKind) {
        for count in [kind.bodyCount.lowerBound - 1, kind.bodyCount.upperBound + 1] {
            var decoder = PairingFrameDecoder(kinds: [kind])
            let length = UInt32(count + 1)
            decoder.append([24, 16, 8, 0].map { UInt8(truncatingIfNeeded: length >> $0) } + [kind.rawValue])
            #expect(throws: PairingViolation.length(length)) { try decoder.next() }
        }
    }

    @Test func `a length above the maximum is rejected without the kind`() {
        var decoder = PairingFrameDecoder(kinds: [.salt, .refusal])
        decoder.append([0, 0, 0, 18])
        #expect(throws: PairingViolation.length(18)) { try decoder.next() }
        decoder = PairingFrameDecoder(kinds: [.salt])
        decoder.append([0xFF, 0xFF, 0xFF, 0xFF])
        #expect(throws: PairingViolation.length(.max)) { try decoder.next() }
        decoder = PairingFrameDecoder(kinds: [.salt])
        decoder.append([0, 0, 0, 0])
        #expect(throws: PairingViolation.length(0)) { try decoder.next() }
    }

    @Test(
        arguments: UInt8.min...UInt8.max
    )
    func `kinds that the state does not accept, and unknown kinds, are rejected`(_ code: UInt8) {
        var decoder = PairingFrameDecoder(kinds: [.account])
        guard code != PairingFrameKind.account.rawValue else { return }
        decoder.append([0, 0, 0, 60, code])
        #expect(throws: PairingViolation.unexpected(kind: code)) { try decoder.next() }
    }

    @Test func `nothing is accepted if nothing is allowed`() {
        var decoder = PairingFrameDecoder(kinds: [])
        decoder.append([0, 0, 0, 2])
        #expect(throws: PairingViolation.length(2)) { try decoder.next() }
    }

    @Test func `received bytes are checked against the state in which they are read`() throws {
        var decoder = PairingFrameDecoder(kinds: [.confirmA])
        let first = PairingFrame(.confirmA, [UInt8](repeating: 1, count: 32))
        decoder.append(first.encoded + PairingFrame(.stored, [UInt8](repeating: 2, count: 16)).encoded)
        #expect(try decoder.next() == first)
        #expect(throws: PairingViolation.unexpected(kind: 8)) { try decoder.next() }
        decoder.allow([.stored])
        #expect(try decoder.next()?.kind == .stored)
    }
}
