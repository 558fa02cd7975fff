import HandoffLog
import HandoffModel
import HandoffProtocol
import LoopIO

extension ConfigurationKey {
    /// The maximum bytes of a device name, limited by the account's statement about it.
    static let nameByteLimit = 64

    /// Sets this setting from text. An empty text restores the default.
    ///
    /// - Returns: false if the value is not allowed. The configuration is unchanged in that case.
    package func apply(_ text: String, to configuration: inout Configuration) -> Bool {
        guard !text.isEmpty else {
            reset(in: &configuration)
            return true
        }
        return switch self {
        case .name: Self.set(&configuration.name, ValueText.displayName(text, limit: Self.nameByteLimit))
        case .discovery: Self.set(&configuration.discovery, DiscoveryChoice(rawValue: text))
        case .port: Self.set(&configuration.port, Self.port(text))
        case .address: Self.set(&configuration.address, IPAddress(text: text))
        case .interface: Self.add(ValueText.interfaceName(text), to: &configuration.interfaces)
        case .networks: Self.set(&configuration.networks, NetworkPolicy(rawValue: text))
        case .advertise: Self.set(&configuration.advertise, AdvertisePolicy(rawValue: text))
        case .titles: Self.set(&configuration.titles, ValueText.truth(text))
        case .peer: Self.add(StaticAddress(text).flatMap { $0.needsZone ? nil : $0 }, to: &configuration.peers)
        case .payloadLimit:
            Self.set(
                &configuration.payloadLimit, ValueText.byteCount(text, in: Limits.payloadAdvice...Limits.payloadMaximum)
            )
        case .saveAnswer:
            Self.set(&configuration.saveAnswer, ValueText.duration(text, in: .milliseconds(50) ... .seconds(10)))
        case .refresh: Self.set(&configuration.refresh, ValueText.duration(text, in: .seconds(1) ... .seconds(3600)))
        case .activityLifetime:
            Self.setDelay(&configuration.activityLifetime, text, in: .seconds(60) ... .seconds(2_592_000))
        case .receiverLifetime:
            Self.set(
                &configuration.receiverLifetime, ValueText.duration(text, in: .seconds(300)...PeerTable.maxLifetime)
            )
        case .lockDelay: Self.setDelay(&configuration.sessionDelays.lock, text)
        case .idleDelay: Self.setDelay(&configuration.sessionDelays.idle, text)
        case .notifications: Self.set(&configuration.notifications, ["on": true, "off": false][text])
        case .logLevel: Self.set(&configuration.logLevel, LogLevel(name: text))
        }
    }

    /// Restores the default of the setting.
    package func reset(in configuration: inout Configuration) {
        let defaults = Configuration()
        switch self {
        case .name: configuration.name = defaults.name
        case .discovery: configuration.discovery = defaults.discovery
        case .port: configuration.port = defaults.port
        case .address: configuration.address = defaults.address
        case .interface: configuration.interfaces = defaults.interfaces
        case .networks: configuration.networks = defaults.networks
        case .advertise: configuration.advertise = defaults.advertise
        case .titles: configuration.titles = defaults.titles
        case .peer: configuration.peers = defaults.peers
        case .payloadLimit: configuration.payloadLimit = defaults.payloadLimit
        case .saveAnswer: configuration.saveAnswer = defaults.saveAnswer
        case .refresh: configuration.refresh = defaults.refresh
        case .activityLifetime: configuration.activityLifetime = defaults.activityLifetime
        case .receiverLifetime: configuration.receiverLifetime = defaults.receiverLifetime
        case .lockDelay: configuration.sessionDelays.lock = defaults.sessionDelays.lock
        case .idleDelay: configuration.sessionDelays.idle = defaults.sessionDelays.idle
        case .notifications: configuration.notifications = defaults.notifications
        case .logLevel: configuration.logLevel = defaults.logLevel
        }
    }

    private static func set<Value>(_ place: inout Value, _ value: Value?) -> Bool {
        guard let value else { return false }
        place = value
        return true
    }

    private static func set<Value>(_ place: inout Value?, _ value: Value?) -> Bool {
        guard let value else { return false }
        place = value
        return true
    }

    private static func add<Value: Equatable>(_ value: Value?, to list: inout [Value]) -> Bool {
        guard let value else { return false }
        if !list.contains(value) { list.append(value) }
        return true
    }

    /// Sets a delay from a duration or `never`.
    private static func setDelay(
        _ place: inout Duration?, _ text: String, in range: ClosedRange<Duration> = .zero ... .seconds(86_400)
    ) -> Bool {
        if text == "never" {
            place = nil
            return true
        }
        return set(&place, ValueText.duration(text, in: range))
    }

    private static func port(_ text: String) -> PortChoice? {
        if text == "default" { return .standard }
        guard let number = ValueText.integer(text.utf8, in: 0...65535), let port = UInt16(exactly: number) else {
            return nil
        }
        return port == 0 ? .any : .fixed(port)
    }
}
