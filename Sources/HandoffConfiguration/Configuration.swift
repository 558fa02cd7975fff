package import HandoffLog
package import HandoffModel
package import HandoffProtocol
package import LoopIO

/// What a person can set about the daemon. The initial values are the defaults.
///
/// Where the same setting is given several times, the strongest holds: command line, environment, the user's file,
/// the system's file, default.
package struct Configuration: Sendable, Equatable {
    /// The name by which the other devices show this one, at most 64 bytes of UTF-8; nil: the machine's own name.
    package var name: String?

    /// How the other devices are found.
    package var discovery: DiscoveryChoice = .auto

    /// Where the daemon listens, for TCP and UDP alike.
    package var port: PortChoice = .standard

    /// The only local address to listen on; nil: all.
    package var address: IPAddress?

    /// The only interfaces to be found on; empty: all but loopback.
    package var interfaces: [String] = []

    /// In which networks this device is found.
    package var networks: NetworkPolicy = .all

    /// What the other devices are told about the activities here, and how.
    package var advertise: AdvertisePolicy = .all

    /// Whether titles of activities are part of what is advertised.
    package var titles = true

    /// Devices to be called at a fixed address, beside those that are found.
    package var peers: [StaticAddress] = []

    /// The greatest payload of an activity published here, in bytes of its encoded form.
    package var payloadLimit = Limits.payloadDefault

    /// How long an app may take to save before its last saved state is sent.
    package var saveAnswer: Duration = .seconds(1)

    /// How often an app with unsaved changes is asked to save while its activity is current.
    package var refresh: Duration = .seconds(15)

    /// How long an activity without an expiration date is offered after its app last said something of it; nil: for ever.
    package var activityLifetime: Duration? = .seconds(86_400)

    /// How long what another device offers is believed without being renewed.
    package var receiverLifetime: Duration = .seconds(600)

    /// How long after a lock, and without a user, activities are still advertised.
    package var sessionDelays = SessionDelays()

    /// Whether the desktop shows what the other devices offer.
    package var notifications = true

    /// The least important messages that are logged.
    package var logLevel: LogLevel = .notice

    /// The rate at which reserved values are sent; not a setting of users: `HANDOFF_GREASE=always` is for tests.
    package var grease = Grease.Rate.never

    /// The defaults.
    package init() {}

    /// The settings that have changed since another configuration was read, and that only the next start of a daemon takes up:
    /// its name, and what its sockets and its discovery are made of.
    package func settingsForNextStart(since former: Configuration) -> [ConfigurationKey] {
        [
            name == former.name ? nil : .name, discovery == former.discovery ? nil : .discovery,
            port == former.port ? nil : .port, address == former.address ? nil : .address,
            interfaces == former.interfaces ? nil : .interface,
        ].compactMap { $0 }
    }
}
