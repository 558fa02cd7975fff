import CSystemdBus
import Glibc
import LoopIO
import Timing

/// A new unit of the user's service manager, in which one program runs: outside of our own unit, and of its sandbox.
///
/// All calls wait for the manager: for a thread of their own.
package struct TransientUnit: Sendable {
    /// Why the program does not run.
    package enum Problem: Error, Equatable, Sendable {
        /// There is no manager of the user's: no bus, or it is not there.
        case noManager(String)
        /// The manager refused, or did not answer; its words.
        case refused(String)
        /// The program could not be started, or ended with a failure; what the manager says of it.
        case ended(String)
    }

    private static let manager = "org.freedesktop.systemd1"
    private static let managerPath = "/org/freedesktop/systemd1"
    private static let managerInterface = "org.freedesktop.systemd1.Manager"
    private static let unitInterface = "org.freedesktop.systemd1.Unit"
    private static let endProperty = "InactiveEnterTimestampMonotonic"
    private static let serviceInterface = "org.freedesktop.systemd1.Service"

    /// The name, with `.service`.
    private let name: String
    /// For people, in lists of units.
    private let description: String
    /// The program by absolute path, and its arguments; none of them is expanded.
    private let words: [String]
    /// The working directory, an absolute path; nil means that of the manager's services, the home directory.
    private let folder: String?
    /// Variables beside those of the manager, as `NAME=VALUE`.
    private let variables: [String]

    package init(name: String, description: String, words: [String], folder: String? = nil, variables: [String]) {
        self.name = name
        self.description = description
        self.words = words
        self.folder = folder
        self.variables = variables
    }

    /// Starts the unit (`StartTransientUnit`), and watches for a while how the program fares.
    ///
    /// - Parameter watching: how long; a program that still runs then is well.
    /// - Throws: `Problem`; after `.noManager` nothing was started.
    package func start(watching: Duration) throws(Problem) {
        let bus: UserBus
        do throws(UserBus.Failure) {
            bus = try UserBus()
        } catch {
            throw .noManager(error.message)
        }
        // Without it no signals come. Who cannot subscribe sees less, and no worse.
        bus.followProperties(of: Self.manager)
        try? bus.call(Self.manager, Self.managerPath, Self.managerInterface, "Subscribe") { _ in }
        do throws(UserBus.Failure) {
            try startUnit(bus, endsWithGroup: true)
        } catch {
            guard !error.isUnreachable else { throw .noManager(error.message) }
            // Before systemd 250 a unit cannot outlive its first program.
            guard error.isAboutProperties else { throw .refused(error.message) }
            do throws(UserBus.Failure) {
                try startUnit(bus, endsWithGroup: false)
            } catch {
                throw .refused(error.message)
            }
        }
        try watch(bus, for: watching)
    }

    private func startUnit(_ bus: borrowing UserBus, endsWithGroup: Bool) throws(UserBus.Failure) {
        try bus.call(Self.manager, Self.managerPath, Self.managerInterface, "StartTransientUnit") { message in
            message.append(name)
            message.append("fail")
            message.container("a", "(sv)") { properties in
                properties.property("Description", description)
                properties.property("Type", "exec")
                properties.property("Slice", "app.slice")
                if let folder { properties.property("WorkingDirectory", folder) }
                properties.property("CollectMode", "inactive-or-failed")
                // Apps go on when the launcher has ended.
                if endsWithGroup {
                    properties.property("ExitType", "cgroup")
                } else {
                    properties.property("KillMode", "process")
                }
                // Keeps what is known of the unit for as long as we are connected.
                properties.property("AddRef", signature: "b") { $0.append(true) }
                properties.property("Environment", signature: "as") { value in
                    value.container("a", "s") { list in
                        for variable in variables { list.append(variable) }
                    }
                }
                properties.property("ExecStartEx", signature: "a(sasas)") { value in
                    value.container("a", "(sasas)") { commands in
                        commands.container("r", "sasas") { command in
                            command.append(words.first ?? "")
                            command.container("a", "s") { list in
                                for word in words { list.append(word) }
                            }
                            command.container("a", "s") { flags in
                                // The manager would put the values of its variables in the place of `$NAME`.
                                flags.append("no-env-expand")
                            }
                        }
                    }
                }
            }
            message.container("a", "(sa(sv))") { _ in }
        }
    }

    /// Returns when the program has ended well, or has run for as long as it was to be watched.
    private func watch(_ bus: borrowing UserBus, for timeout: Duration) throws(Problem) {
        guard let path = Self.objectPath(of: name) else { return }
        let clock = ContinuousClock()
        let end = clock.now + timeout
        while true {
            guard let state = bus.text(Self.manager, path, Self.unitInterface, "ActiveState") else { return }
            switch state {
            case "failed": throw Self.failure(bus, path) ?? .ended("its unit failed")
            case "inactive":
                // So it is before its start, too, and it may have begun and failed since that was asked for.
                let ended: UInt64? = bus.number(Self.manager, path, Self.unitInterface, Self.endProperty, "t")
                if ended ?? 1 != 0 {
                    if let failure = Self.failure(bus, path) { throw failure }
                    return
                }
            default: break
            }
            let left = end - clock.now
            guard left > .zero, bus.waitForSignal(left) else { return }
        }
    }

    /// The manager's object for a unit on the bus, by sd_bus_path_encode(3); nil without memory.
    private static func objectPath(of unit: String) -> String? {
        var path: UnsafeMutablePointer<CChar>?
        guard sd_bus_path_encode("\(managerPath)/unit", unit, &path) >= 0, let path else { return nil }
        defer { free(path) }
        return String(cString: path)
    }

    /// How the program of a unit failed; nil when it did not, as far as the manager says.
    private static func failure(_ bus: borrowing UserBus, _ path: String) -> Problem? {
        guard let result = bus.text(manager, path, serviceInterface, "Result"), result != "success" else { return nil }
        let status: Int32 = bus.number(manager, path, serviceInterface, "ExecMainStatus", "i") ?? 0
        return .ended(result == "exit-code" ? "it ended with status \(status)" : "its unit failed: \(result)")
    }
}
