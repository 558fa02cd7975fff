import CSystemdBus
import Glibc
import HandoffModel
import LoopIO

/// A new unit of the user's service manager that runs one program, outside this process's unit and
/// sandbox.
///
/// All calls block: use a separate thread.
package struct TransientUnit: Sendable {
    /// A reason why the program is not running.
    package enum Problem: Error, Equatable, Sendable {
        /// The user's service manager is unavailable, or there is no bus.
        case noManager(String)
        /// The manager refused or did not reply. The value is the error message.
        case refused(String)
        /// The program could not be started, or failed. The value is the manager's description of
        /// the failure.
        case ended(String)
    }

    private static let manager = "org.freedesktop.systemd1"
    private static let managerPath = "/org/freedesktop/systemd1"
    private static let managerInterface = "org.freedesktop.systemd1.Manager"
    private static let unitInterface = "org.freedesktop.systemd1.Unit"
    private static let endProperty = "InactiveEnterTimestampMonotonic"
    private static let serviceInterface = "org.freedesktop.systemd1.Service"

    /// The unit name, including `.service`.
    private let name: String
    /// The description shown in lists of units.
    private let description: String
    /// The program's absolute path and its arguments. The manager expands none of them.
    private let words: [String]
    /// The working directory, an absolute path; nil for the default of the manager's services, the
    /// home directory.
    private let folder: String?
    /// Additional environment variables, as `NAME=VALUE`.
    private let variables: [String]

    package init(name: String, description: String, words: [String], folder: String? = nil, variables: [String]) {
        self.name = name
        self.description = description
        self.words = words
        self.folder = folder
        self.variables = variables
    }

    /// Starts the unit (`StartTransientUnit`), and watches the program for a limited time.
    ///
    /// - Parameter watching: The time to watch. A program that still runs at its end has started
    ///   successfully.
    /// - Throws: `Problem`; after `.noManager` nothing was started.
    package func start(watching: Duration) throws(Problem) {
        let bus: UserBus
        do throws(UserBus.Failure) {
            bus = try UserBus()
        } catch {
            throw .noManager(error.message)
        }
        // The manager sends signals only to subscribers. Without a subscription, a later failure of
        // the program goes unnoticed.
        bus.followProperties(of: Self.manager)
        try? bus.call(Self.manager, Self.managerPath, Self.managerInterface, "Subscribe") { _ in }
        do throws(UserBus.Failure) {
            try startUnit(bus, endsWithGroup: true)
        } catch {
            guard !error.isUnreachable else { throw .noManager(error.message) }
            // systemd before version 250 cannot keep a unit after its first process exits.
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
                // Apps continue to run after their launcher has ended.
                if endsWithGroup {
                    properties.property("ExitType", "cgroup")
                } else {
                    properties.property("KillMode", "process")
                }
                // Keeps the unit's state readable for as long as this connection exists.
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
                                // Prevents the manager from expanding `$NAME` with its own
                                // variables.
                                flags.append("no-env-expand")
                            }
                        }
                    }
                }
            }
            message.container("a", "(sa(sv))") { _ in }
        }
    }

    /// Returns when the program has ended successfully or the time has expired.
    private func watch(_ bus: borrowing UserBus, for timeout: Duration) throws(Problem) {
        guard let path = Self.objectPath(of: name) else { return }
        let clock = ContinuousClock()
        let end = clock.now + timeout
        while true {
            guard let state = bus.text(Self.manager, path, Self.unitInterface, "ActiveState") else { return }
            switch state {
            case "failed": throw Self.failure(bus, path) ?? .ended("its unit failed")
            case "inactive":
                // A unit is also inactive before it starts, and may have started and failed since
                // the query.
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

    /// Returns the object path of a unit, by sd_bus_path_encode(3); nil if memory is exhausted.
    private static func objectPath(of unit: String) -> String? {
        var path: UnsafeMutablePointer<CChar>?
        guard sd_bus_path_encode("\(managerPath)/unit", unit, &path) >= 0, let path else { return nil }
        defer { free(path) }
        return String(cString: path)
    }

    /// Returns the failure of a unit's program; nil if the manager reports none.
    private static func failure(_ bus: borrowing UserBus, _ path: String) -> Problem? {
        guard let result = bus.text(manager, path, serviceInterface, "Result"), result != "success" else { return nil }
        let status: Int32 = bus.number(manager, path, serviceInterface, "ExecMainStatus", "i") ?? 0
        return .ended(result == "exit-code" ? "it ended with status \(status)" : "its unit failed: \(result)")
    }
}
