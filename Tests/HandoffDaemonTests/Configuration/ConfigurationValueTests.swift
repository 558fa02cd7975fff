import HandoffModel
import LoopIO
import Testing

@testable import HandoffDaemon

@Suite struct ConfigurationValueTests {
    func value(_ key: String, _ text: String) -> Configuration? {
        var configuration = Configuration()
        return Setting.named(key)?.apply(text, to: &configuration) == true ? configuration : nil
    }

    @Test
    func `allowed values are accepted`() {
        #expect(value("name", "Käte's laptop")?.name == "Käte's laptop")
        #expect(value("discovery", "static")?.discovery == .static)
        #expect(value("port", "default")?.port == .standard)
        #expect(value("port", "0")?.port == .any)
        #expect(value("port", "65535")?.port == .fixed(65535))
        #expect(value("address", "192.0.2.1")?.address == IPAddress(text: "192.0.2.1"))
        #expect(value("address", "2001:db8::1")?.address == IPAddress(text: "2001:db8::1"))
        #expect(value("address", "fe80::1%lo")?.address?.scope == 1)
        #expect(value("interface", "wlp0s20f3")?.interfaces == ["wlp0s20f3"])
        #expect(value("networks", "known")?.networks == .known)
        #expect(value("advertise", "beacon-only")?.advertise == .beaconOnly)
        #expect(value("titles", "no")?.titles == false)
        #expect(value("peer", "[fe80::1%eth0]:24863")?.peers.map(\.text) == ["[fe80::1%eth0]:24863"])
        #expect(value("payload-limit", "3 KiB")?.payloadLimit == 3072)
        #expect(value("payload-limit", "983040")?.payloadLimit == 983_040)
        #expect(value("save-answer", "50ms")?.saveAnswer == .milliseconds(50))
        #expect(value("refresh", "1 h")?.refresh == .seconds(3600))
        #expect(value("activity-lifetime", "90 min")?.activityLifetime == .seconds(5400))
        #expect(value("activity-lifetime", "never")?.activityLifetime == .some(nil))
        #expect(value("receiver-lifetime", "6 min")?.receiverLifetime == .seconds(360))
        #expect(value("lock-delay", "0 s")?.sessionDelays.lock == .zero)
        #expect(value("lock-delay", "24 h")?.sessionDelays.lock == .seconds(86_400))
        #expect(value("idle-delay", "never")?.sessionDelays == SessionDelays(idle: nil))
        #expect(value("notifications", "off")?.notifications == false)
        #expect(value("notifications", "on")?.notifications == true)
        #expect(value("tray", "off")?.tray == false)
        #expect(value("tray", "auto")?.tray == true)
        #expect(value("keep", "off")?.keep == false)
        #expect(value("keep", "on")?.keep == true)
        #expect(value("log-level", "debug")?.logLevel == .debug)
    }

    static let refusedValues: [(String, [String])] = [
        ("name", [String(repeating: "é", count: 33), "a\u{7}b", "a\u{2028}b", "a\u{85}b"]),
        ("discovery", ["mdns", "AUTO", "auto,avahi"]),
        ("port", ["-1", "+5", "65536", "0x10", "1.0", "99999999999999999999", "٣", "any"]),
        ("address", ["localhost", "1.2.3", "[::1]", "1.2.3.4:5", "300.1.1.1", "::g"]),
        ("interface", ["sixteen-letters!", "a/b", "a b", "..", "é"]),
        ("networks", ["none", "Known", "home"]),
        ("advertise", ["on", "beacon", "ALL"]),
        ("titles", ["true", "1", "Yes"]),
        (
            "peer",
            [
                "host", "host:", ":1", "host:0", "host:65536", "fe80::1:24863", "[::1]", "a b:1", "-x:1", "h/:1",
                "[fe80::1]:1",
            ]
        ),
        ("payload-limit", ["3071", "961 KiB", "64 KB", "1.5 KiB", "-1", "KiB", "9223372036854775807 MiB"]),
        ("save-answer", ["1", "49 ms", "11 s", "1 sec", "s", "9223372036854775807 h"]),
        ("refresh", ["999 ms", "61 min", "15"]),
        ("activity-lifetime", ["59 s", "721 h", "always"]),
        ("receiver-lifetime", ["299 s", "601 s", "24 h"]),
        ("lock-delay", ["-1 s", "25 h", "8", "Never", "no"]),
        ("idle-delay", ["120", "1 d", "never ever"]),
        ("notifications", ["yes", "no", "On", "1", "0"]), ("tray", ["on", "yes", "Auto"]),
        ("keep", ["yes", "no", "On"]),
        ("log-level", ["warning", "INFO", "5"]),
    ]

    @Test(arguments: refusedValues)
    func `other values are refused and change nothing`(_ key: String, _ texts: [String]) throws {
        let setting = try #require(Setting.named(key))
        for text in texts {
            var configuration = Configuration()
            #expect(!setting.apply(text, to: &configuration), "\(key) = \(text)")
            #expect(configuration == Configuration(), "\(key) = \(text)")
        }
    }

    @Test
    func `the table of refused values contains every key`() {
        #expect(Set(Self.refusedValues.map(\.0)) == Set(Setting.all.map(\.key)))
        #expect(Set(Setting.all).count == Setting.all.count)
    }

    /// A configuration in which no setting has its default.
    static var changed: Configuration {
        var configuration = Configuration()
        configuration.name = "a"
        configuration.discovery = .static
        configuration.port = .any
        configuration.address = IPAddress(text: "192.0.2.1")
        configuration.interfaces = ["lo"]
        configuration.networks = .known
        configuration.advertise = .off
        configuration.titles = false
        configuration.peers = [StaticAddress("a:1")].compactMap { $0 }
        configuration.payloadLimit = 4096
        configuration.saveAnswer = .seconds(2)
        configuration.refresh = .seconds(2)
        configuration.activityLifetime = nil
        configuration.receiverLifetime = .seconds(20)
        configuration.sessionDelays = SessionDelays(lock: nil, idle: .zero)
        configuration.notifications = false
        configuration.tray = false
        configuration.keep = false
        configuration.logLevel = .debug
        return configuration
    }

    @Test(arguments: Setting.all.map(\.key))
    func `an empty value and the text of the default restore the default`(_ key: String) throws {
        let setting = try #require(Setting.named(key))
        for text in ["", setting.defaultText] {
            var configuration = Self.changed
            #expect(setting.apply(text, to: &configuration))
            #expect(setting.isEqual(in: configuration, and: Configuration()))
            #expect(configuration != Self.changed)
            for other in Setting.all { other.reset(in: &configuration) }
            #expect(configuration == Configuration())
        }
    }

    @Test
    func `only changed settings of sockets and discovery, and the name, wait for the next start`() {
        let waiting = Self.changed.settingsForNextStart(since: Configuration()).map(\.key)
        #expect(waiting == ["name", "discovery", "port", "address", "interface"])
        #expect(Configuration().settingsForNextStart(since: Configuration()).isEmpty)
    }

    @Test(arguments: [
        ("refresh", "a time from 1 s to 1 h, with the unit ms, s, min or h"),
        ("activity-lifetime", "'never', or a time from 1 min to 720 h, with the unit s, min or h"),
        ("receiver-lifetime", "a time from 5 min to 10 min, with the unit s or min"),
        ("lock-delay", "'never', or a time from 0 s to 24 h, with the unit ms, s, min or h"),
        ("save-answer", "a time from 50 ms to 10 s, with the unit ms, s, min or h"),
        ("payload-limit", "a size from 3 KiB to 960 KiB, in bytes or with the unit KiB or MiB"),
        ("networks", "one of: all, known"), ("notifications", "'on' or 'off'"), ("tray", "'auto' or 'off'"),
        ("keep", "'on' or 'off'"),
        ("name", "1 to 64 bytes of text without control characters"),
    ])
    func `an error names the range of a setting`(_ key: String, _ allowed: String) throws {
        #expect(try #require(Setting.named(key)).allowed == allowed)
    }

    @Test
    func `the same peer or interface twice counts once`() throws {
        let (peer, interface) = (try #require(Setting.named("peer")), try #require(Setting.named("interface")))
        var configuration = Configuration()
        for _ in 0..<2 {
            #expect(peer.apply("a:1", to: &configuration))
            #expect(interface.apply("lo", to: &configuration))
        }
        #expect(configuration.peers.count == 1)
        #expect(configuration.interfaces == ["lo"])
    }
}
