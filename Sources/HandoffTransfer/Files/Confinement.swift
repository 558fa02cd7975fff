import CLinux
import LoopIO

/// What a program that takes files from another device gives up before it reads a byte of that device's.
///
/// Names are checked and links are never followed; this holds should all of that have a mistake.
enum Confinement {
    /// Gives it up for the calling thread and all that it starts later, for ever (landlock(7)): to change any file outside
    /// of a folder, to run programs, to use the network. What is open already stays usable, so does a unix socket's path.
    /// - Parameter folder: the number of an open folder whose content may still be changed; nil for none.
    /// - Returns: whether the kernel watches over it; without it, or on a file system that it cannot tell apart, everything
    ///   works as before.
    static func enter(folder: Int32?) -> Bool {
        clinux_confine_writing(folder ?? -1) > 0
    }
}
