import HandoffModel
import HandoffTransfer
import LoopIO

extension Leftovers {
    /// Deletes expired remains of earlier transfers, on a separate thread because a file system may
    /// be slow.
    /// - Parameter destination: its folder is remembered for later sweeps.
    static func sweep(beside destination: Destination) {
        guard let leftovers = Leftovers() else { return }
        if let folder = destination.folderPath { leftovers.remember(folder) }
        let now = Int64(clamping: SystemWallClock().unixSeconds)
        // If no thread can be created, the next transfer sweeps.
        _ = try? OwnedThread(name: "sweep") { leftovers.sweep(now: now) }
    }
}
