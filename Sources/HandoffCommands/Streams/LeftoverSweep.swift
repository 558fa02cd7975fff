import HandoffTransfer
import LoopIO
import Timing

extension Leftovers {
    /// Deletes what earlier transfers have left and is too old, on a thread of its own: a file system may take its time.
    /// - Parameter destination: its folder is remembered for later sweeps.
    static func sweep(beside destination: Destination) {
        guard let leftovers = Leftovers() else { return }
        if let folder = destination.folderPath { leftovers.remember(folder) }
        let now = Int64(clamping: SystemWallClock().unixSeconds)
        // Without a thread the next transfer sweeps.
        _ = try? OwnedThread(name: "sweep") { leftovers.sweep(now: now) }
    }
}
