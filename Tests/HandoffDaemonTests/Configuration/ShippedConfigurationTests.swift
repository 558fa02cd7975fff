import Foundation
import HandoffDaemon
import Testing

/// Compares the shipped configuration file and the manual page with the table of settings. With
/// `HANDOFF_WRITE_CONFIGURATION=1` in the environment, the settings of the file are written from the
/// table first; `scripts/manual` then updates the page.
@Suite struct ShippedConfigurationTests {
    /// A file of this working copy.
    static func path(_ name: String) -> String {
        #filePath.split(separator: "/").dropLast(4).reduce("") { "\($0)/\($1)" } + "/\(name)"
    }

    static let path = path("config/handoffd.conf")

    func shipped() throws -> String {
        let bytes = try #require(try ConfigurationReader.read(Self.path))
        return try #require(String(validating: bytes, as: UTF8.self))
    }

    /// The part of a file with the settings: for each, its description and its default as comments.
    var settings: String {
        var text = ""
        for section in Setting.Section.allCases {
            text += "[\(section.rawValue)]\n"
            for setting in Setting.all where setting.section == section {
                let lines = setting.summary.split(separator: "\n")
                text += lines.isEmpty ? "" : "\n" + lines.map { "# \($0)\n" }.joined()
                text += "#\(setting.key) =\(setting.defaultText.isEmpty ? "" : " \(setting.defaultText)")\n"
            }
            text += "\n"
        }
        return String(text.dropLast())
    }

    /// The file with its commented-out settings enabled: lines of '#', a key without a space before
    /// it, and '='.
    func uncommented() throws -> [UInt8] {
        var bytes: [UInt8] = []
        for line in try shipped().utf8.split(separator: 0x0A, omittingEmptySubsequences: false) {
            let isSetting = line.first == 0x23 && line.dropFirst().first.map { (0x61...0x7A).contains($0) } == true
            bytes += Array(isSetting ? line.dropFirst() : line) + [0x0A]
        }
        return bytes
    }

    @Test
    func `the shipped file sets nothing`() throws {
        #expect(try ConfigurationFile.parse(Array(shipped().utf8), path: Self.path) == [])
    }

    @Test
    func `the shipped file describes the settings as their table does`() throws {
        var text = try shipped()
        let start = try #require(text.range(of: "[\(Setting.Section.device.rawValue)]\n")).lowerBound
        if ProcessInfo.processInfo.environment["HANDOFF_WRITE_CONFIGURATION"] == "1" {
            text.replaceSubrange(start..., with: settings)
            try text.write(toFile: Self.path, atomically: true, encoding: .utf8)
        }
        #expect(text[start...] == settings)
        #expect(settings.split(separator: "\n").allSatisfy { $0.count <= 120 })
    }

    @Test
    func `its comments set every default`() throws {
        var configuration = ConfigurationValueTests.changed
        try ConfigurationLoader.overlay(
            try ConfigurationFile.parse(try uncommented(), path: Self.path), on: &configuration)
        #expect(configuration == Configuration())
    }

    @Test(arguments: ["config/handoffd.conf", "docs/man/handoffd.conf.5"])
    func `the file and the manual page list the settings that wait for the next start`(_ name: String) throws {
        let keys = Setting.all.filter { $0.applies == .atNextStart }.map(\.key)
        let list = keys.dropLast().joined(separator: ", ") + " and " + (keys.last ?? "")
        #expect(try String(contentsOfFile: Self.path(name), encoding: .utf8).contains(" \(list) "))
    }
}
