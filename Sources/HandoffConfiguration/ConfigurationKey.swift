import HandoffLog

/// A setting. The raw value is its key in the file.
package enum ConfigurationKey: String, Sendable, CaseIterable {
    case name
    case discovery
    case port
    case address
    case interface
    case networks
    case advertise
    case titles
    case peer
    case payloadLimit = "payload-limit"
    case saveAnswer = "save-answer"
    case refresh
    case activityLifetime = "activity-lifetime"
    case receiverLifetime = "receiver-lifetime"
    case lockDelay = "lock-delay"
    case idleDelay = "idle-delay"
    case notifications
    case logLevel = "log-level"

    /// True if the setting may be given several times. Each adds a value.
    package var isRepeatable: Bool {
        self == .interface || self == .peer
    }

    /// The environment variable of this setting, such as `HANDOFFD_LOG_LEVEL`.
    package var variable: String {
        Self.variablePrefix
            + String(rawValue.uppercased().map { character in character == "-" ? "_" : character })
    }

    /// The prefix of all variables of settings.
    package static let variablePrefix = "HANDOFFD_"

    /// The allowed values, as the end of an error message.
    package var allowed: String {
        switch self {
        case .name: "1 to 64 bytes of text without control characters"
        case .discovery: "one of: " + Self.words(DiscoveryChoice.allCases.map(\.rawValue))
        case .port: "'default', 0 for any free port, or a number from 1 to 65535"
        case .address: "an IPv4 or IPv6 address of this machine, without a port"
        case .interface: "the name of a network interface, 1 to 15 characters"
        case .networks: "one of: " + Self.words(NetworkPolicy.allCases.map(\.rawValue))
        case .advertise: "one of: " + Self.words(AdvertisePolicy.allCases.map(\.rawValue))
        case .titles: "'yes' or 'no'"
        case .peer:
            "host:port, address:port or [IPv6 address]:port, with a port from 1 to 65535, and a link-local address with its "
                + "interface: [fe80::1%eth0]:24863"
        case .payloadLimit: "a size from 3 KiB to 960 KiB, in bytes or with the unit KiB or MiB"
        case .saveAnswer: "a time from 50 ms to 10 s, with the unit ms, s, min or h"
        case .refresh: "a time from 1 s to 1 h, with the unit ms, s, min or h"
        case .activityLifetime: "'never', or a time from 1 min to 720 h, with the unit s, min or h"
        case .receiverLifetime: "a time from 5 min to 10 min, with the unit s or min"
        case .lockDelay, .idleDelay: "'never', or a time from 0 s to 24 h, with the unit ms, s, min or h"
        case .notifications: "'on' or 'off'"
        case .logLevel: "one of: " + Self.words(LogLevel.allCases.map(\.name))
        }
    }

    private static func words(_ list: [String]) -> String {
        list.joined(separator: ", ")
    }
}
