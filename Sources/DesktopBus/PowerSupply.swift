import CSystemdBus
package import HandoffDesktop
package import LoopIO

/// Follows whether the machine runs on its battery (UPower), and which power profile is active (power-profiles-daemon). Neither is
/// started for it. Lives on the loop's thread; never waits.
package final class PowerSupply: BusSource, LoopBusDelegate {
    /// How long an answer may take, in microseconds.
    private static let timeout: UInt64 = 5_000_000

    /// A property of a service; all have an object and an interface of one name each.
    private struct Source {
        let service: String
        let path: String
        let property: String
    }

    private static let battery = Source(
        service: "org.freedesktop.UPower", path: "/org/freedesktop/UPower", property: "OnBattery")
    /// Under its present name, and under that before version 0.20.
    private static let profiles = [
        Source(
            service: "org.freedesktop.UPower.PowerProfiles", path: "/org/freedesktop/UPower/PowerProfiles",
            property: "ActiveProfile"),
        Source(service: "net.hadess.PowerProfiles", path: "/net/hadess/PowerProfiles", property: "ActiveProfile"),
    ]

    private let onChange: (MachinePower) -> Void
    private let bus: LoopBus
    private var isOnBattery: Bool?
    /// The active profile, by the service that says so.
    private var activeProfiles: [String: String] = [:]
    private var latest: MachinePower?

    /// Begins to follow.
    ///
    /// - Parameter onChange: told what is so, once that is known, and of each change.
    package init(loop: EventLoop, onChange: @escaping (MachinePower) -> Void) {
        self.onChange = onChange
        bus = LoopBus(.system, loop: loop, timeout: Self.timeout)
        bus.start(self)
    }

    /// Ends it; nothing is told any more.
    package func stop() {
        bus.stop()
    }

    func busOpened() throws(Errno) {
        try follow(Self.battery) { supply, reply in
            supply.isOnBattery = reply.flatMap { try? BusReader.variantFlag($0) }
        }
        for source in Self.profiles {
            try follow(source) { supply, reply in
                // None any more once the service has ended.
                supply.activeProfiles[source.service] = reply.flatMap { try? BusReader.variantText($0) }
            }
        }
    }

    /// What was known stays so: the bus says more once it is there again.
    func busLost(wasOpen: Bool) {}

    private func follow(
        _ source: Source, _ take: @escaping (PowerSupply, OpaquePointer?) -> Void
    ) throws(Errno) {
        let rules = [
            "sender='\(source.service)',path='\(source.path)',interface='\(LoopBus.propertiesInterface)'",
            // The service was started, or ended.
            "sender='\(LoopBus.name)',member='NameOwnerChanged',arg0='\(source.service)'",
        ]
        for rule in rules {
            try bus.follow(rule) { [weak self] _ in try? self?.ask(source, take) }
        }
        try ask(source, take)
    }

    private func ask(
        _ source: Source, _ take: @escaping (PowerSupply, OpaquePointer?) -> Void
    ) throws(Errno) {
        try bus.call(
            source.service, source.path, LoopBus.propertiesInterface, "Get", startsService: false,
            { message in
                message.append(source.service)
                message.append(source.property)
            },
            then: { [weak self] reply in
                guard let self else { return }
                bus.reached()
                take(self, reply)
                tell()
            })
    }

    private func tell() {
        // Of the two names one service has both, or one alone.
        let profile = Self.profiles.lazy.compactMap { [activeProfiles] in activeProfiles[$0.service] }.first
        let power = MachinePower(isOnBattery: isOnBattery, profile: profile)
        guard power != latest else { return }
        latest = power
        onChange(power)
    }
}
