import HandoffModel
import Testing

struct AppVersionTests {
    @Test(arguments: [
        "", ".", "1.", ".1", "1..2", "a", "1.x", "-1", "+1", "1 ", "1234567890", "1.2.3.4.5.6.7.8.9", "\u{661}",
    ])
    func `a text that cannot be compared is not a version`(text: String) {
        #expect(AppVersion(text) == nil)
    }

    @Test(
        arguments: [
            ("2.0", nil, "2", true), ("2.0", nil, "1.9.9", false), ("2.0", nil, "10", true),
            ("2.10", nil, "2.9", false),
            (nil, "2", "2.9", true), (nil, "2", "3", false), (nil, "2.9", "2.10", false), (nil, "2.9", "2", true),
            ("1.2", "1.4", "1.4.7", true), ("1.2", "1.4", "1.5", false), ("1.2", "1.4", "1.1.9", false),
            ("1.2", nil, "beta", false), ("1.2", nil, nil, false), (nil, nil, nil, true), (nil, nil, "beta", true),
        ] as [(String?, String?, String?, Bool)])
    func `a range contains the versions between its bounds`(
        minimum: String?, maximum: String?, version: String?, isIn: Bool
    ) {
        let range = VersionRange(
            minimum: minimum.flatMap { AppVersion($0) }, maximum: maximum.flatMap { AppVersion($0) })
        #expect(range.contains(version) == isIn)
    }

    @Test func `a range is parsed from a line`() throws {
        let declared = try #require(VersionRange.declared("com.example.edit 2.0 -"))
        #expect(declared.type.text == "com.example.edit" && declared.range == VersionRange(minimum: AppVersion("2.0")))
        #expect("\(declared.range)" == "2.0 or later")
        #expect(VersionRange.declared("t - 3")?.range.description == "up to 3")
        #expect(VersionRange.declared("t 1 3")?.range.description == "1 to 3")
        for text in ["", "t", "t 1", "t 1 2 3", "t x -", "t - x"] { #expect(VersionRange.declared(text) == nil) }
    }
}
