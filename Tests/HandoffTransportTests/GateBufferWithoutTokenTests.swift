import HandoffTransport
import Testing

@Suite struct GateBufferWithoutTokenTests {
    private let hello: [UInt8] = [0x16, 3, 1, 0, 40] + [UInt8](repeating: 1, count: 40)
    private let token = [UInt8](repeating: 7, count: 32)

    /// Adds bytes in pieces, and returns the last result.
    private func progress(_ bytes: [UInt8], pieces count: Int) -> GateBuffer.Progress {
        var opening = GateBuffer(tokenCount: 32, mayOmitToken: true)
        var progress = GateBuffer.Progress.incomplete
        var rest = bytes[...]
        while !rest.isEmpty, progress == .incomplete {
            progress = opening.append(Array(rest.prefix(count)))
            rest = rest.dropFirst(count)
        }
        return progress
    }

    @Test(arguments: [1, 7, 1000]) func `the first byte determines whether there is a token`(_ count: Int) {
        #expect(progress(hello, pieces: count) == .complete(token: nil, clientHello: hello))
        #expect(progress(token + hello, pieces: count) == .complete(token: token, clientHello: hello))
    }

    @Test func `a part is incomplete`() {
        for count in 1..<hello.count { #expect(progress(Array(hello.prefix(count)), pieces: 1000) == .incomplete) }
        for count in 1..<(32 + hello.count) {
            #expect(progress(Array((token + hello).prefix(count)), pieces: 1000) == .incomplete)
        }
    }

    @Test func `further bytes are rejected`() {
        #expect(progress(hello + [0], pieces: 1000) == .refused)
        #expect(progress(token + hello + [0], pieces: 1000) == .refused)
    }

    @Test func `other bytes are rejected`() {
        #expect(progress(Array("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n\r\n\r\n".utf8), pieces: 1000) == .refused)
        #expect(progress([0x16, 3, 1, 0xff, 0xff], pieces: 1000) == .refused)
        #expect(progress([UInt8](repeating: 7, count: 5000), pieces: 5000) == .refused)
    }
}
