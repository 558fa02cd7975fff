import HandoffConfiguration
import Testing

@Suite struct ShippedConfigurationTests {
    /// config/handoffd.conf of this working copy.
    static let path = #filePath.split(separator: "/").dropLast(3).reduce("") { "\($0)/\($1)" } + "/config/handoffd.conf"

    func shipped() throws -> [UInt8] {
        try #require(try ConfigurationReader.read(Self.path))
    }

    /// The file with its commented-out settings enabled: lines of '#', a key without a space before
    /// it, and '='.
    func uncommented() throws -> [UInt8] {
        var bytes: [UInt8] = []
        for line in try shipped().split(separator: 0x0A, omittingEmptySubsequences: false) {
            let isSetting = line.first == 0x23 && line.dropFirst().first.map { (0x61...0x7A).contains($0) } == true
            bytes += (isSetting ? line.dropFirst() : line) + [0x0A]
        }
        return bytes
    }

    @Test
    func `the shipped file sets nothing`() throws {
        #expect(try ConfigurationFile.parse(try shipped(), path: Self.path) == [])
    }

    @Test
    func `its comments name every key once, with its default value`() throws {
        let entries = try ConfigurationFile.parse(try uncommented(), path: Self.path)
        #expect(
            entries.map(\.key).sorted { $0.rawValue < $1.rawValue }
                == ConfigurationKey.allCases.sorted { $0.rawValue < $1.rawValue })
        var configuration = Configuration()
        configuration.name = "not the default"
        configuration.titles = false
        configuration.payloadLimit = 4096
        configuration.refresh = .seconds(1)
        try ConfigurationLoader.overlay(entries, on: &configuration)
        #expect(configuration == Configuration())
    }
}
