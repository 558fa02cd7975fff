import HandoffTransport
import Testing

struct GateBufferTests {
    private static let token = [UInt8](repeating: 9, count: 40)

    private static func record(_ count: Int) -> [UInt8] {
        [22, 3, 1, UInt8(count >> 8), UInt8(count & 0xff)] + [UInt8](repeating: 5, count: count)
    }

    @Test(arguments: [1, 2, 200, 1397, 4095, 4096])
    func `token and record are returned completely`(count: Int) {
        var buffer = GateBuffer()
        let record = Self.record(count)
        #expect(buffer.append(Self.token + record) == .complete(token: Self.token, clientHello: record))
    }

    @Test(arguments: [1, 3, 39, 40, 41, 44, 45, 46, 100])
    func `the sizes of the pieces do not matter`(cut: Int) {
        var buffer = GateBuffer()
        let record = Self.record(300)
        let all = Self.token + record
        var progress = GateBuffer.Progress.incomplete
        for start in stride(from: 0, to: all.count, by: cut) {
            #expect(progress == .incomplete)
            progress = buffer.append(Array(all[start..<min(start + cut, all.count)]))
        }
        #expect(progress == .complete(token: Self.token, clientHello: record))
    }

    @Test func `every prefix is incomplete`() {
        let all = Self.token + Self.record(300)
        for count in 0..<all.count {
            var buffer = GateBuffer()
            #expect(buffer.append(Array(all.prefix(count))) == .incomplete)
        }
    }

    @Test(arguments: [
        [21, 3, 1, 0, 10], [23, 3, 3, 0, 10], [0, 0, 0, 0, 0], [22, 3, 1, 0, 0], [22, 3, 1, 16, 1],
        [22, 3, 1, 0xff, 0xff],
        Array("GET /".utf8),
    ])
    func `other headers are rejected immediately`(header: [UInt8]) {
        var buffer = GateBuffer()
        #expect(buffer.append(Self.token + header) == .refused)
    }

    @Test func `bytes after the record are rejected`() {
        var whole = GateBuffer()
        #expect(whole.append(Self.token + Self.record(300) + [0]) == .refused)
        var cut = GateBuffer()
        #expect(cut.append(Array(Self.token + Self.record(300).dropLast())) == .incomplete)
        #expect(cut.append([5, 22]) == .refused)
    }

    @Test func `more than the capacity is never stored`() {
        var buffer = GateBuffer()
        #expect(buffer.append([UInt8](repeating: 22, count: buffer.capacity + 1)) == .refused)
        #expect(buffer.capacity == 40 + 5 + 4096)
    }
}
