import HandoffPairing
import Testing

struct PairingCodeTests {
    @Test(arguments: [
        "12345678", "1234 5678", "1234-5678", " 12 34 56 78 ", "1-2-3-4-5-6-7-8", "12345678--",
    ])
    func `eight digits with spaces and dashes are accepted`(_ text: String) throws {
        let code = try #require(PairingCode(text))
        #expect(code.digits == "12345678")
    }

    @Test(arguments: [
        "", "1234567", "123456789", "1234567a", "1234_5678", "１２３４５６７８", "1234\t5678", "+12345678", "1234.5678",
        "١٢٣٤٥٦٧٨", String(repeating: "1", count: 100_000),
    ])
    func `everything else is rejected`(_ text: String) {
        #expect(PairingCode(text) == nil)
    }

    @Test func `leading zeros count`() throws {
        #expect(try #require(PairingCode("0000 0001")).digits == "00000001")
    }

    @Test func `all digits are equally likely`() {
        var counts = [Character: Int]()
        for _ in 0..<5_000 { for digit in PairingCode().digits { counts[digit, default: 0] += 1 } }
        // 4,000 of each are expected, with a deviation of 60. Ten times that does not happen by
        // chance.
        #expect(counts.count == 10)
        #expect(counts.values.allSatisfy { (3_400...4_600).contains($0) })
    }

    @Test func `a code is never printed`() throws {
        let code = try #require(PairingCode("1234 5678"))
        var dumped = ""
        dump(code, to: &dumped)
        for text in ["\(code)", String(reflecting: code), dumped] {
            #expect(!text.contains("1234") && !text.contains("5678"))
        }
    }
}
