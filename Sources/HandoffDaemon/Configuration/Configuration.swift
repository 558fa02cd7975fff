import HandoffModel
import HandoffProtocol
package import LoopIO

/// The values of the settings of the daemon. The initial values are the defaults. `Setting.all`
/// has the key, the type and the description of each.
///
/// If a setting is given several times, the source with the highest precedence wins: command line,
/// environment, the user's file, the system's file, default.
package struct Configuration: Sendable, Equatable {
    /// The name shown on other devices; nil means the machine's name.
    package var name: String?

    /// The discovery method.
    package var discovery: DiscoveryChoice = .auto

    /// The port of the daemon, for TCP and UDP.
    package var port: PortChoice = .standard

    /// The local address to listen on; nil means all.
    package var address: IPAddress?

    /// The interfaces on which this device is discoverable; empty means all except loopback.
    package var interfaces: [String] = []

    /// The networks in which this device is discoverable.
    var networks: NetworkPolicy = .all

    /// The advertised part of activities on this device, and the method.
    package var advertise: AdvertisePolicy = .all

    /// True if advertisements include the titles of activities.
    package var titles = true

    /// Devices to connect to at a fixed address, in addition to those discovered.
    var peers: [StaticAddress] = []

    /// The maximum payload of an activity published here, in bytes of its encoded form.
    package var payloadLimit = Limits.payloadDefault

    /// The time limit for an app to save. When it expires, the last saved state is sent.
    package var saveAnswer: Duration = .seconds(1)

    /// The interval at which an app with unsaved changes is asked to save while its activity is
    /// current.
    package var refresh: Duration = .seconds(15)

    /// The time for which an activity without expiration date is offered after its last update;
    /// nil means permanently.
    package var activityLifetime: Duration? = .seconds(86_400)

    /// The time for which offers of other devices remain valid without being renewed.
    var receiverLifetime: Duration = .seconds(600)

    /// The delays after which a locked or idle session stops advertising activities.
    var sessionDelays = SessionDelays()

    /// True if the desktop shows offers of other devices.
    var notifications = true

    /// True if the tray of the desktop has an icon with the offers of other devices.
    var tray = true

    /// True if this device keeps activities of other devices while they are offline, and they keep
    /// its activities.
    package var keep = true

    /// The lowest level of logged messages.
    package var logLevel: LogLevel = .notice

    /// The rate at which reserved values are sent. Not a user setting: `HANDOFF_GREASE=always` is
    /// for tests.
    var grease = Grease.Rate.never

    package init() {}

    /// Returns the settings that differ from an earlier configuration and only take effect when the
    /// daemon restarts.
    func settingsForNextStart(since former: Configuration) -> [Setting] {
        Setting.all.filter { $0.applies == .atNextStart && !$0.isEqual(in: self, and: former) }
    }
}
