import CSystemdBus
package import HandoffHandlers
package import LoopIO

/// Follows whether the machine runs on battery (UPower), and the active power profile
/// (power-profiles-daemon). Starts neither service. Lives on the loop's thread and never blocks.
package final class PowerSupply: BusSource, LoopBusDelegate {
    /// The maximum time for a reply, in microseconds.
    private static let timeout: UInt64 = 5_000_000

    /// A property of a service. For all of them, the interface has the name of the service.
    private struct Source {
        let service: String
        let path: String
        let property: String
    }

    private static let battery = Source(
        service: "org.freedesktop.UPower", path: "/org/freedesktop/UPower", property: "OnBattery")
    /// The current name, and the name before version 0.20.
    private static let profiles = [
        Source(
            service: "org.freedesktop.UPower.PowerProfiles", path: "/org/freedesktop/UPower/PowerProfiles",
            property: "ActiveProfile"),
        Source(service: "net.hadess.PowerProfiles", path: "/net/hadess/PowerProfiles", property: "ActiveProfile"),
    ]

    private let onChange: (MachinePower) -> Void
    private let bus: LoopBus
    private var isOnBattery: Bool?
    /// The active profile by service.
    private var activeProfiles: [String: String] = [:]
    private var latest: MachinePower?

    /// Starts following.
    ///
    /// - Parameter onChange: Called with the state once it is known, and with each change.
    package init(loop: EventLoop, onChange: @escaping (MachinePower) -> Void) {
        self.onChange = onChange
        bus = LoopBus(.system, loop: loop, timeout: Self.timeout)
        bus.start(self)
    }

    /// Ends the subscription. Nothing is reported afterwards.
    package func stop() {
        bus.stop()
    }

    func busOpened() throws(Errno) {
        try follow(Self.battery) { supply, reply in
            supply.isOnBattery = reply.flatMap { try? BusReader.variantFlag($0) }
        }
        for source in Self.profiles {
            try follow(source) { supply, reply in
                // Nil once the service has ended.
                supply.activeProfiles[source.service] = reply.flatMap { try? BusReader.variantText($0) }
            }
        }
    }

    /// Keeps the known state until the bus is available again.
    func busLost(wasOpen: Bool) {}

    private func follow(
        _ source: Source, _ take: @escaping (PowerSupply, OpaquePointer?) -> Void
    ) throws(Errno) {
        let rules = [
            "sender='\(source.service)',path='\(source.path)',interface='\(LoopBus.propertiesInterface)'",
            // The service has started or ended.
            "sender='\(LoopBus.name)',member='NameOwnerChanged',arg0='\(source.service)'",
        ]
        for rule in rules {
            try bus.follow(rule) { [weak self] _ in try? self?.query(source, take) }
        }
        try query(source, take)
    }

    private func query(
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
                reportChange()
            })
    }

    private func reportChange() {
        // A service has one of the two names, or both.
        let profile = Self.profiles.lazy.compactMap { [activeProfiles] in activeProfiles[$0.service] }.first
        let power = MachinePower(isOnBattery: isOnBattery, profile: profile)
        guard power != latest else { return }
        latest = power
        onChange(power)
    }
}
