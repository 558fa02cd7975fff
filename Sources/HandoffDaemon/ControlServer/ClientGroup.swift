import HandoffHandlers
import LoopIO

/// The group whose connections and activities are counted together, so that no client exhausts
/// shared resources. A plain value.
///
/// A process can leave its unit unless a sandbox prevents it. The limits therefore contain mistakes
/// and sandboxed apps, but not a program that can start others outside its unit.
package enum ClientGroup: Hashable, Sendable {
    /// All processes of a unit of the user's service manager: an app with any number of processes.
    case unit(String)
    /// A process that is in no such unit.
    case process(Int32)
    /// All processes whose unit and existence are unknown: they have ended, or are in another
    /// namespace. They share one group, because a client that connects and exits could otherwise
    /// have any number of groups.
    case unknown

    /// Looks up the group of a process by reading a file below /proc.
    init(ofProcess process: Int32) {
        do throws(Errno) {
            self = try MachineInfo.userUnit(ofProcess: process).map { .unit($0) } ?? .process(process)
        } catch {
            // If our sandbox hides the units of other processes, each running process still counts
            // separately.
            self = MachineInfo.isRunning(process) ? .process(process) : .unknown
        }
    }

    /// The unit, or nil for a process without one.
    var unit: String? {
        if case .unit(let unit) = self { unit } else { nil }
    }

    /// The source to which the passed descriptors of the group are attributed.
    var source: DescriptorSource { DescriptorSource(description) }

    /// True if its unit is that of a sandbox. A hint, not a security boundary.
    var isSandbox: Bool { unit.map(AppUnit.isSandbox) ?? false }
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
