import HandoffModel
import HandoffProtocol

extension Setting {
    /// The maximum bytes of a device name, limited by the account's statement about it.
    private static let maxNameBytes = 64

    /// All settings of the daemon, each with its key, property, type and range, the time when a
    /// changed value takes effect, and its description.
    ///
    /// Reading and validating files, variables and options, error messages, the notice after a
    /// reload, `config/handoffd.conf` and its manual page follow from this table. A new setting
    /// needs a row here, a property of `Configuration` whose initial value is the default, and the
    /// code that uses it. `ShippedConfigurationTests` writes the file's text.
    package static let all: [Setting] = [
        Setting(
            "name", in: .device, \.name, .optional(.displayName(maxBytes: maxNameBytes)), applies: .atNextStart,
            """
            The name shown on your other devices, at most 64 bytes. Empty: the machine's name. A name set with
            'handoffctl device rename' applies until this setting changes.
            """),
        Setting(
            "discovery", in: .network, \.discovery, .choice, applies: .atNextStart,
            """
            The method of discovering your other devices.
              auto      the system's Avahi if it runs or can be started, otherwise the responder inside handoffd
              avahi     only the system's Avahi
              embedded  only the responder inside handoffd
              static    no announcements and no queries; only the peers below and those added with
                        'handoffctl peer add'
            """),
        Setting(
            "port", in: .network, \.port, .port, applies: .atNextStart,
            """
            The port for TCP and UDP.
              default       24863, or one of the next nine ports if it is in use, or any. Pairing uses another
                            one of these ten
              0             any free port
              1 to 65535    only this port; handoffd does not start if it is in use
            """),
        Setting(
            "address", in: .network, \.address, .optional(.address), applies: .atNextStart,
            """
            Listen only on this IPv4 or IPv6 address. Empty: all addresses. The address may be assigned later,
            for example by DHCP.
            """),
        Setting(
            "interface", in: .network, list: \.interfaces, of: .interface, applies: .atNextStart,
            "Be discoverable only on this interface. May be repeated. Empty: all interfaces except loopback."),
        Setting(
            "networks", in: .network, \.networks, .choice,
            """
            The networks in which this device is discoverable.
              all           all networks
              known         only networks trusted with 'handoffctl network trust'. In other networks, handoffd
                            sends no announcements, queries, replies or connection requests. A network is
                            identified by the link-layer address of its gateway
            """),
        Setting(
            "peer", in: .network, list: \.peers, of: .peer,
            """
            A device to connect to at a fixed address, for networks without multicast: host:port or
            [IPv6 address]:port. May be repeated.
            """),
        Setting(
            "advertise", in: .activities, \.advertise, .choice,
            """
            The method of advertising your activities to your other devices.
              all           by multicast DNS (sealed) and by datagrams to each known device
              beacon-only   the multicast record only announces, sealed, the presence of this device; activities
                            are sent only to known devices, so other hosts on the network cannot observe when
                            they change
              off           do not advertise
            """),
        Setting(
            "titles", in: .activities, \.titles, .either("yes", or: "no"),
            """
            Include titles of activities in advertisements (sealed): yes or no. Payloads contain the title in
            any case.
            """),
        Setting(
            "payload-limit", in: .activities, \.payloadLimit,
            .byteCount(Limits.payloadAdvice...Limits.payloadMaximum),
            """
            The maximum payload sent to other devices (3 KiB to 960 KiB). If a payload is larger, continuing the
            activity fails on the other device with code 4611, and the app on this device is warned when it
            publishes. Payloads below 3 KiB are recommended.
            """),
        Setting(
            "save-answer", in: .activities, \.saveAnswer, .duration(.milliseconds(50) ... .seconds(10)),
            """
            The time that an app may take to save when another device requests its activity, from 50 ms to 10 s.
            After that, the last saved state is sent.
            """),
        Setting(
            "refresh", in: .activities, \.refresh, .duration(.seconds(1) ... .seconds(3600)),
            "The interval at which an app with unsaved changes is asked to save, from 1 s to 1 h."),
        Setting(
            "activity-lifetime", in: .activities, \.activityLifetime,
            .durationOrNever(.seconds(60) ... .seconds(2_592_000), units: "s, min or h"),
            """
            The time for which an activity without an expiration date is offered after its app last updated it,
            from 1 min to 720 h, or never.
            """),
        Setting(
            "keep", in: .activities, \.keep, .either("on", or: "off"),
            """
            Continue activities of devices that are asleep or off: on or off. This device and the others keep a
            copy of each other's activities, for 24 hours, in memory only.
            """),
        Setting(
            "receiver-lifetime", in: .activities, \.receiverLifetime,
            .duration(.seconds(300)...PeerTable.maxLifetime, units: "s or min"),
            """
            The time for which offers of other devices remain valid without renewal, from 5 min to 10 min.
            Devices renew them every 4 minutes.
            """),
        Setting(
            "lock-delay", in: .activities, \.sessionDelays.lock, .durationOrNever(.zero ... .seconds(86_400)),
            """
            The delays after which advertising stops when the screen is locked, and when the desktop becomes
            idle. It resumes when the screen is unlocked or the desktop is used. If the screen has been locked
            since handoffd started, nothing is advertised until it is unlocked. From 0 s to 24 h, or never.
            Without a desktop, these settings have no effect.
            """),
        Setting(
            "idle-delay", in: .activities, \.sessionDelays.idle, .durationOrNever(.zero ... .seconds(86_400)), ""),
        Setting(
            "notifications", in: .activities, \.notifications, .either("on", or: "off"),
            """
            Show offers of your other devices that an app on this device can open, if the desktop has a
            notification server: on or off. Offers are never shown while the screen is locked.
            """),
        Setting(
            "tray", in: .activities, \.tray, .either("auto", or: "off"),
            """
            Show an icon in the tray while other devices offer something that an app on this device can open,
            if the desktop has a tray: auto or off.
            """),
        Setting(
            "log-level", in: .log, \.logLevel, .level,
            """
            The lowest level of messages to log: debug, info, notice, error or fault. Titles, payloads and keys
            are never logged.
            """),
    ]
}
