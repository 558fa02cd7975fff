import CQREncode
import QRText
import Testing

@Suite struct QRCodeTests {
    private static let link = "handoff:pair/1/mfrggzdfmztwq2lknnwg23tpoa/192.168.1.5:40123,[fe80::1%25eth0]:40123"

    /// The modules that the library computes for a text, row by row.
    private func reference(_ text: String) throws -> [[Bool]] {
        let bytes = Array(text.utf8)
        let code = try #require(QRcode_encodeData(Int32(bytes.count), bytes, 0, QR_ECLEVEL_L))
        defer { QRcode_free(code) }
        let width = Int(code.pointee.width)
        return (0..<width).map { row in (0..<width).map { code.pointee.data[row * width + $0] & 1 == 1 } }
    }

    /// The modules as shown on the terminal: true for a dark one.
    private func seen(_ lines: [String]) throws -> [[Bool]] {
        var rows: [[Bool]] = []
        for line in lines {
            #expect(line.hasPrefix("\u{1B}[38;5;231;48;5;16m"))
            #expect(line.hasSuffix("\u{1B}[0m"))
            var upper: [Bool] = []
            var lower: [Bool] = []
            for character in line.dropFirst(19).dropLast(4) {
                switch character {
                case "█": (upper, lower) = (upper + [false], lower + [false])
                case "▀": (upper, lower) = (upper + [false], lower + [true])
                case "▄": (upper, lower) = (upper + [true], lower + [false])
                case " ": (upper, lower) = (upper + [true], lower + [true])
                default: Issue.record("unexpected character \(character)")
                }
            }
            rows += [upper, lower]
        }
        return rows
    }

    @Test(arguments: [link, "a", String(repeating: "x", count: 512), "Grüße"])
    func `the displayed code matches the library's`(_ text: String) throws {
        let code = try #require(QRCode(text))
        let expected = try reference(text)
        let rows = try seen(try #require(code.lines(columns: 200)))
        #expect(code.size == expected.count)
        for row in 0..<expected.count {
            #expect(Array(rows[row + 4][4..<4 + code.size]) == expected[row])
        }
    }

    @Test func `the code has a light frame`() throws {
        let code = try #require(QRCode(Self.link))
        let rows = try seen(try #require(code.lines(columns: 200)))
        #expect(rows.allSatisfy { $0.count == code.size + 8 })
        for (index, row) in rows.enumerated() {
            let isFrame = index < 4 || index >= 4 + code.size
            #expect(!(isFrame ? row : Array(row[..<4] + row[(4 + code.size)...])).contains(true))
        }
    }

    @Test func `a narrow terminal gets a narrow frame, and a narrower one nothing`() throws {
        let code = try #require(QRCode(Self.link))
        let narrow = try #require(code.lines(columns: code.size + 7))
        #expect(try seen(narrow).first?.count == code.size + 4)
        #expect(code.lines(columns: code.size + 4) != nil)
        #expect(code.lines(columns: code.size + 3) == nil)
        #expect(code.lines(columns: 0) == nil)
    }

    @Test func `an empty or too long text has no code`() {
        #expect(QRCode("") == nil)
        #expect(QRCode(String(repeating: "x", count: 2953)) != nil)
        #expect(QRCode(String(repeating: "x", count: 2954)) == nil)
    }
}
