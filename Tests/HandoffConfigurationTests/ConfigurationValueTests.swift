import HandoffConfiguration
import HandoffLog
import HandoffModel
import LoopIO
import Testing

@Suite struct ConfigurationValueTests {
    func value(_ key: ConfigurationKey, _ text: String) -> Configuration? {
        var configuration = Configuration()
        return key.apply(text, to: &configuration) ? configuration : nil
    }

    @Test
    func `allowed values are accepted`() {
        #expect(value(.name, "Käte's laptop")?.name == "Käte's laptop")
        #expect(value(.discovery, "static")?.discovery == .static)
        #expect(value(.port, "default")?.port == .standard)
        #expect(value(.port, "0")?.port == .any)
        #expect(value(.port, "65535")?.port == .fixed(65535))
        #expect(value(.address, "192.0.2.1")?.address == IPAddress(text: "192.0.2.1"))
        #expect(value(.address, "2001:db8::1")?.address == IPAddress(text: "2001:db8::1"))
        #expect(value(.address, "fe80::1%lo")?.address?.scope == 1)
        #expect(value(.interface, "wlp0s20f3")?.interfaces == ["wlp0s20f3"])
        #expect(value(.networks, "known")?.networks == .known)
        #expect(value(.advertise, "beacon-only")?.advertise == .beaconOnly)
        #expect(value(.titles, "no")?.titles == false)
        #expect(value(.peer, "[fe80::1%eth0]:24863")?.peers.map(\.text) == ["[fe80::1%eth0]:24863"])
        #expect(value(.payloadLimit, "3 KiB")?.payloadLimit == 3072)
        #expect(value(.payloadLimit, "983040")?.payloadLimit == 983_040)
        #expect(value(.saveAnswer, "50ms")?.saveAnswer == .milliseconds(50))
        #expect(value(.refresh, "1 h")?.refresh == .seconds(3600))
        #expect(value(.activityLifetime, "90 min")?.activityLifetime == .seconds(5400))
        #expect(value(.activityLifetime, "never")?.activityLifetime == .some(nil))
        #expect(value(.receiverLifetime, "6 min")?.receiverLifetime == .seconds(360))
        #expect(value(.lockDelay, "0 s")?.sessionDelays.lock == .zero)
        #expect(value(.lockDelay, "24 h")?.sessionDelays.lock == .seconds(86_400))
        #expect(value(.idleDelay, "never")?.sessionDelays == SessionDelays(idle: nil))
        #expect(value(.notifications, "off")?.notifications == false)
        #expect(value(.notifications, "on")?.notifications == true)
        #expect(value(.logLevel, "debug")?.logLevel == .debug)
    }

    static let refusedValues: [(ConfigurationKey, [String])] = [
        (.name, [String(repeating: "é", count: 33), "a\u{7}b", "a\u{2028}b", "a\u{85}b"]),
        (.discovery, ["mdns", "AUTO", "auto,avahi"]),
        (.port, ["-1", "+5", "65536", "0x10", "1.0", "99999999999999999999", "٣", "any"]),
        (.address, ["localhost", "1.2.3", "[::1]", "1.2.3.4:5", "300.1.1.1", "::g"]),
        (.interface, ["sixteen-letters!", "a/b", "a b", "..", "é"]),
        (.networks, ["none", "Known", "home"]),
        (.advertise, ["on", "beacon", "ALL"]),
        (.titles, ["true", "1", "Yes"]),
        (
            .peer,
            [
                "host", "host:", ":1", "host:0", "host:65536", "fe80::1:24863", "[::1]", "a b:1", "-x:1", "h/:1",
                "[fe80::1]:1",
            ]
        ),
        (.payloadLimit, ["3071", "961 KiB", "64 KB", "1.5 KiB", "-1", "KiB", "9223372036854775807 MiB"]),
        (.saveAnswer, ["1", "49 ms", "11 s", "1 sec", "s", "9223372036854775807 h"]),
        (.refresh, ["999 ms", "61 min", "15"]),
        (.activityLifetime, ["59 s", "721 h", "always"]),
        (.receiverLifetime, ["299 s", "601 s", "24 h"]),
        (.lockDelay, ["-1 s", "25 h", "8", "Never", "no"]),
        (.idleDelay, ["120", "1 d", "never ever"]),
        (.notifications, ["yes", "no", "On", "1", "0"]),
        (.logLevel, ["warning", "INFO", "5"]),
    ]

    @Test(arguments: refusedValues)
    func `other values are refused and change nothing`(_ key: ConfigurationKey, _ texts: [String]) {
        for text in texts {
            var configuration = Configuration()
            #expect(!key.apply(text, to: &configuration), "\(key.rawValue) = \(text)")
            #expect(configuration == Configuration(), "\(key.rawValue) = \(text)")
        }
    }

    @Test
    func `the table of refused values contains every key`() {
        #expect(Set(Self.refusedValues.map(\.0)) == Set(ConfigurationKey.allCases))
    }

    @Test(arguments: ConfigurationKey.allCases)
    func `an empty value restores the default`(_ key: ConfigurationKey) {
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
        configuration.logLevel = .debug
        let changed = configuration
        #expect(key.apply("", to: &configuration))
        #expect(configuration != changed)
        for other in ConfigurationKey.allCases { other.reset(in: &configuration) }
        #expect(configuration == Configuration())
    }

    @Test
    func `the same peer or interface twice counts once`() {
        var configuration = Configuration()
        for _ in 0..<2 {
            #expect(ConfigurationKey.peer.apply("a:1", to: &configuration))
            #expect(ConfigurationKey.interface.apply("lo", to: &configuration))
        }
        #expect(configuration.peers.count == 1)
        #expect(configuration.interfaces == ["lo"])
    }
}
