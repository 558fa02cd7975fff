import Testing

@testable import HandoffDaemon

@Suite struct ConfigurationFileTests {
    static let path = "/x/handoffd.conf"

    func entries(_ text: String) throws -> [ConfigurationEntry] {
        try ConfigurationFile.parse(Array(text.utf8), path: Self.path)
    }

    func entry(_ key: String, _ value: String, line: Int) throws -> ConfigurationEntry {
        ConfigurationEntry(
            setting: try #require(Setting.named(key)), value: value, origin: .file(path: Self.path, line: line))
    }

    func failure(_ bytes: [UInt8]) -> String? {
        do {
            _ = try ConfigurationFile.parse(bytes, path: Self.path)
            return nil
        } catch {
            return error.description
        }
    }

    @Test
    func `settings keep their order, value and line`() throws {
        let found = try entries("# a\n\n[network]\nport=5\n  peer\t= a:1 \r\npeer = b:2\n\n[device]\nname = Käte = # 1")
        let expected = [
            try entry("port", "5", line: 4),
            try entry("peer", "a:1", line: 5),
            try entry("peer", "b:2", line: 6),
            try entry("name", "Käte = # 1", line: 9),
        ]
        #expect(found == expected)
    }

    @Test(arguments: ["", "\n", "# only\n#x", "[log]\n", "\r\n\r\n"])
    func `a file without settings is valid`(_ text: String) throws {
        #expect(try entries(text) == [])
    }

    @Test(arguments: [
        ("a b", 1, "expected 'key = value'"), ("\n\nport", 3, "invalid line"),
        ("= 5", 1, "invalid line"), ("[network\nport = 1", 1, "invalid line"),
        ("[net]\n", 1, "unknown section 'net'"), ("[netwrok]\n", 1, "did you mean 'network'?"),
        ("prot = 5", 1, "did you mean 'port'?"), ("loglevel = info", 1, "did you mean 'log-level'?"),
        ("\nPORT = 5", 2, "did you mean 'port'?"), ("zzzzzz = 5", 1, "allowed keys: name, discovery, port"),
        ("port = 1\nname = a\nport = 2", 3, "port is already set (/x/handoffd.conf:1)"),
        ("port = 1\u{0}", 1, "control character"), ("name = a\u{1B}[31m", 1, "control character"),
        (String(repeating: "#", count: 1025), 1, "longer than 1024 bytes"),
    ])
    func `an error names the line number and the allowed values`(_ text: String, line: Int, words: String) throws {
        let message = try #require(failure(Array(text.utf8)))
        #expect(message.hasPrefix("\(Self.path):\(line): "), "\(message)")
        #expect(message.contains(words), "\(message)")
    }

    @Test(arguments: ["name = ", "# "])
    func `invalid UTF-8 is refused, even in comments`(_ start: String) throws {
        for bytes: [UInt8] in [[0xFF], [0xC3], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80]] {
            let message = try #require(failure(Array("\n\(start)".utf8) + bytes + [0x0A]))
            #expect(
                message
                    == "\(Self.path):2: the line is not valid UTF-8: expected UTF-8 text without control characters")
        }
    }

    @Test
    func `a file beyond the limit is refused before it is read into lines`() throws {
        let largest = [UInt8](repeating: 0x0A, count: ConfigurationFile.byteLimit)
        #expect(failure(largest) == nil)
        #expect(failure(largest + [0x0A]) == "\(Self.path): the file is too large: the maximum is 64 KiB")
        #expect(
            failure([UInt8](repeating: 0x23, count: 1 << 20))
                == "\(Self.path): the file is too large: the maximum is 64 KiB")
    }

    @Test
    func `an unknown key of any length is shortened for display`() throws {
        let message = try #require(failure(Array((String(repeating: "x", count: 900) + " = 1").utf8)))
        #expect(message.contains(String(repeating: "x", count: 80) + "…"))
        #expect(!message.contains(String(repeating: "x", count: 81)))
    }
}
