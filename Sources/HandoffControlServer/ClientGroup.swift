import HandoffHandlers
import LoopIO

/// Whose connections and activities are counted together, so that nobody takes what is there for all. Plain values.
///
/// A process can leave its unit unless a sandbox keeps it there: this bounds what goes wrong by mistake and what a sandboxed
/// app does, and no program that may start others outside of its unit.
package enum ClientGroup: Hashable, Sendable {
    /// All processes of a unit of the user's service manager: an app, however many it starts.
    case unit(String)
    /// A process in no such unit.
    case process(Int32)
    /// All processes of which the system tells nothing: they had ended, or are in another namespace. One group, or who connects
    /// and ends would have as many as it likes.
    case unknown

    /// Looks up the group of a process: reads a file below /proc.
    package init(ofProcess process: Int32) {
        do throws(Errno) {
            self = try MachineInfo.userUnit(ofProcess: process).map { .unit($0) } ?? .process(process)
        } catch {
            // Where our sandbox hides what other processes are, each still counts for itself.
            self = MachineInfo.isRunning(process) ? .process(process) : .unknown
        }
    }

    /// The unit; nil for processes in none.
    package var unit: String? {
        if case .unit(let unit) = self { unit } else { nil }
    }

    /// In whose share the descriptors count that it passes.
    var source: DescriptorSource { DescriptorSource(description) }

    /// Whether its unit is that of a sandbox: a hint, no boundary.
    package var isSandbox: Bool { unit.map(AppUnit.isSandbox) ?? false }
}

extension ClientGroup: CustomStringConvertible {
    package var description: String {
        switch self {
        case .unit(let unit): unit
        case .process(let process): "process \(process)"
        case .unknown: "ended processes"
        }
    }
}
