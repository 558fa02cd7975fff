import HandoffModel
import Testing

struct FixedBytesTests {
    private static let digits = String((0..<64).map { Array("0123456789abcdef")[$0 % 16] })

    @Test func `an id parses and prints hexadecimal`() throws {
        let id = try #require(DeviceID(hex: Self.digits))
        #expect(id.hex == Self.digits)
        #expect(id.description == Self.digits)
        #expect(id.short == "0123456")
        #expect(id.grouped.hasPrefix("01234567-89abcdef-01234567-"))
        #expect(DeviceID(hex: id.grouped.uppercased()) == id)
        #expect(DeviceID(hex: id.grouped.replacing("-", with: ": ")) == id)
        #expect(DeviceID(bytes: id.bytes) == id)
    }

    @Test(arguments: ["", "00", String(repeating: "0", count: 62), String(repeating: "0", count: 66)])
    func `a text of another length is not an id`(text: String) {
        #expect(DeviceID(hex: text) == nil)
        #expect(AccountID(hex: text) == nil)
    }

    @Test func `each type has its own length`() {
        #expect(DeviceID(bytes: [UInt8](repeating: 0, count: 16)) == nil)
        #expect(ActivityID(bytes: [UInt8](repeating: 0, count: 16)) != nil)
        #expect(ContinuationID(bytes: [UInt8](repeating: 0, count: 17)) == nil)
        #expect(AccountID(bytes: [UInt8](repeating: 0, count: 15)) == nil)
    }

    @Test func `ids sort by their bytes`() throws {
        let low = try #require(ActivityID(bytes: [0] + [UInt8](repeating: 255, count: 15)))
        let high = try #require(ActivityID(bytes: [1] + [UInt8](repeating: 0, count: 15)))
        #expect(low < high)
        #expect(!(high < low))
        #expect(!(low < low))
    }
}

struct HexTests {
    @Test(
        arguments: [
            ("", []), ("00ff", [0, 255]), ("00FF", [0, 255]), ("00-ff", [0, 255]), (" 0 0:f-f ", [0, 255]),
        ] as [(String, [UInt8])])
    func `groups and case are ignored`(text: String, bytes: [UInt8]) {
        #expect(Hex.decode(text) == bytes)
    }

    @Test(arguments: ["0", "00f", "0g", "0x00", "00\n", "００", "0_0"])
    func `other characters and half bytes are rejected`(text: String) {
        #expect(Hex.decode(text) == nil)
    }
}

struct Base32Tests {
    /// RFC 4648 section 10, in lower case and without padding.
    @Test(arguments: [
        ("", ""), ("f", "my"), ("fo", "mzxq"), ("foo", "mzxw6"), ("foob", "mzxw6yq"), ("fooba", "mzxw6ytb"),
        ("foobar", "mzxw6ytboi"),
    ])
    func `the test vectors of the RFC pass`(plain: String, coded: String) {
        #expect(Base32.encode(Array(plain.utf8)) == coded)
        #expect(Base32.decode(coded) == Array(plain.utf8))
        #expect(Base32.decode(coded.uppercased()) == Array(plain.utf8))
    }

    @Test(arguments: ["a", "abc", "abcdef", "mz", "my======", "m1", "m ", "mé"])
    func `a text that no encoder produces is rejected`(text: String) {
        #expect(Base32.decode(text) == nil)
    }

    @Test(arguments: 0...40)
    func `bytes of every length survive encoding and decoding`(count: Int) {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ 89) }
        #expect(Base32.decode(Base32.encode(bytes)) == bytes)
        #expect(Base32.encode([UInt8](repeating: 255, count: 16)).utf8.count == 26)
    }
}

struct Base64Tests {
    /// RFC 4648 section 10.
    @Test(arguments: [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
        ("foobar", "Zm9vYmFy"),
    ])
    func `the test vectors of the RFC pass`(plain: String, coded: String) {
        #expect(Base64.encode(Array(plain.utf8)) == coded)
        #expect(Base64.decode(coded) == Array(plain.utf8))
        #expect(Base64.isValid(coded))
    }

    @Test(arguments: [
        "Z", "Zg", "Zg=", "Zh==", "Zm9=", "Zg==Zg==", "Zm9v\n", "====", "A===", "Zm=v", "Zm8=Zm9v", "Zm9-", "Zm9_",
        "Zm 9", "Zmé", "[m9v", "`m9v", "{m9v", "@m9vAAAA", "Zm9vé3Zm9v",
    ])
    func `a text that no encoder produces is rejected`(text: String) {
        #expect(Base64.decode(text) == nil)
        #expect(!Base64.isValid(text))
    }

    @Test func `validation and decoding agree on every character`() {
        for byte in UInt8.min...UInt8.max {
            let text = "AAA" + String(Unicode.Scalar(byte)) + "AAAA"
            #expect(Base64.isValid(text) == (Base64.decode(text) != nil), "\(byte)")
        }
    }

    @Test(arguments: 0...20)
    func `bytes of every length survive encoding and decoding`(count: Int) {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ 89) }
        #expect(Base64.decode(Base64.encode(bytes)) == bytes)
    }
}
