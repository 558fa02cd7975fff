import HandoffProtocol
import Testing

extension Frame {
    /// The encoded frame.
    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        append(to: &bytes)
        return bytes
    }
}

@Suite struct FrameTests {
    private static let frames = [
        Frame(.hello, Array("{}".utf8)), Frame(.statements, []), Frame(.request, [UInt8](repeating: 7, count: 3000)),
        Frame(code: 200, body: [1]), Frame(.epochKey, [UInt8](repeating: 1, count: 32)),
    ]

    private static func encoded() -> [UInt8] {
        frames.flatMap(\.bytes)
    }

    private static func decode(_ pieces: [ArraySlice<UInt8>]) throws -> [Frame] {
        var decoder = FrameDecoder(caps: .live)
        var found: [Frame] = []
        for piece in pieces {
            decoder.append(piece)
            while let frame = try decoder.next() { found.append(frame) }
        }
        #expect(decoder.buffered == 0)
        return found
    }

    @Test func `the layout is length, kind, body`() {
        #expect(Frame(.notice, [0xAA, 0xBB]).bytes == [0, 0, 0, 3, 5, 0xAA, 0xBB])
    }

    @Test func `whole frames are decoded`() throws {
        #expect(try Self.decode([Self.encoded()[...]]) == Self.frames)
    }

    @Test func `frames are decoded byte by byte`() throws {
        let bytes = Self.encoded()
        #expect(try Self.decode(bytes.indices.map { bytes[$0...$0] }) == Self.frames)
    }

    @Test(arguments: 1...50 as ClosedRange<UInt64>) func `frames are decoded from random pieces`(seed: UInt64) throws {
        let bytes = Self.encoded()
        var random = FixedRandom(state: seed)
        var pieces: [ArraySlice<UInt8>] = []
        var start = 0
        while start < bytes.count {
            let end = min(bytes.count, start + Int.random(in: 1...700, using: &random))
            pieces.append(bytes[start..<end])
            start = end
        }
        #expect(try Self.decode(pieces) == Self.frames)
    }

    @Test func `every proper prefix of a frame waits`() throws {
        let bytes = Frame(.hello, [1, 2, 3]).bytes
        for count in 0..<bytes.count {
            var decoder = FrameDecoder(caps: .live)
            decoder.append(bytes.prefix(count))
            #expect(try decoder.next() == nil)
            #expect(decoder.buffered == count)
        }
    }

    @Test(arguments: [
        (FrameCaps.live, [0, 0, 0, 0] as [UInt8], FrameError.empty),
        (.live, [0xFF, 0xFF, 0xFF, 0xFF], .tooLong(length: 0xFFFF_FFFF)),
        (.live, [0, 0x80, 0, 2], .tooLong(length: 0x0080_0002)),
        (.live, [0, 0, 0x10, 0x02, 2], .tooLong(length: 0x1002)),
        (.live, [0, 0, 0, 34, 6], .tooLong(length: 34)),
        (.live, [0, 1, 0, 2, 99], .tooLong(length: 0x10002)),
        (.introduction, [0, 0, 0, 3, 2], .notAllowed(code: 2)),
        (.introduction, [0, 0, 0, 3, 99], .notAllowed(code: 99)),
        (.introduction, [0, 8, 0, 2], .tooLong(length: 0x80002)),
        (.helloOnly, [0, 0, 0, 3, 1], .notAllowed(code: 1)),
        (.beforeHello, [0, 0, 0, 3, 3], .notAllowed(code: 3)),
        (.nothing, [0, 0, 0, 1], .tooLong(length: 1)),
    ]) func `invalid headers are rejected before their bodies arrive`(
        caps: FrameCaps, header: [UInt8], error: FrameError
    ) {
        var decoder = FrameDecoder(caps: caps)
        decoder.append(header)
        #expect(throws: error) { try decoder.next() }
    }

    @Test(arguments: [
        (FrameKind.statements, 8 * 1024 * 1024), (.hello, 4096), (.request, 1 << 20), (.response, 1 << 20),
        (.notice, 1 << 20), (.epochKey, 32),
    ]) func `every kind is accepted up to its limit and not beyond`(kind: FrameKind, cap: Int) throws {
        var decoder = FrameDecoder(caps: .live)
        decoder.append(Frame(kind, [UInt8](repeating: 0, count: cap)).bytes)
        #expect(try decoder.next()?.body.count == cap)
        decoder.append(Frame(kind, [UInt8](repeating: 0, count: cap + 1)).bytes)
        #expect(throws: FrameError.self) { try decoder.next() }
    }

    @Test func `later frames are checked against the limits of the next state`() throws {
        var decoder = FrameDecoder(caps: .introduction)
        decoder.append(Frame(.statements, [1]).bytes)
        decoder.append(Frame(.hello, [2]).bytes)
        #expect(try decoder.next() == Frame(.statements, [1]))
        var stayed = decoder
        #expect(throws: FrameError.notAllowed(code: 2)) { try stayed.next() }
        decoder.allow(.beforeHello)
        #expect(try decoder.next() == Frame(.hello, [2]))
    }

    @Test(arguments: 1...200 as ClosedRange<UInt64>) func `random bytes never trap`(seed: UInt64) {
        var random = FixedRandom(state: seed)
        var decoder = FrameDecoder(caps: .live)
        decoder.append((0..<64).map { _ in UInt8.random(in: 0...7, using: &random) })
        while (try? decoder.next()) ?? nil != nil {}
        #expect(decoder.buffered <= 64)
    }
}
