import Glibc
import LoopIO

/// The rule by which completed content gets its name.
enum Naming: Sendable {
    /// Use the name, and replace an existing file.
    case replacing
    /// Use the name, and fail if it is taken.
    case new
    /// Use the name, or the first numbered name that is free.
    case numbered

    /// The highest number tried.
    private static let maxNumber = 9999

    /// Renames a completed part.
    /// - Returns: the final name, and whether the file system rejected the intended one.
    /// - Throws: EEXIST if the name is taken.
    func give(
        _ name: String, to part: String, isFolder: Bool, in folder: OpenFolder
    ) throws(Errno) -> (name: String, isRefused: Bool) {
        switch self {
        case .replacing:
            let number = folder.raw
            try SystemCall.retrying { renameat(number, part.systemPath, number, name.systemPath) }
            return (name, false)
        case .new:
            try folder.rename(part, toNew: name)
            return (name, false)
        case .numbered:
            do throws(Errno) {
                return (try numbered(name, part, isFolder, folder), false)
            } catch {
                let portable = FileName.portable(name.systemBytes)
                guard FileName.isRefusal(error), portable != name else { throw error }
                return (try numbered(portable, part, isFolder, folder), true)
            }
        }
    }

    private func numbered(
        _ name: String, _ part: String, _ isFolder: Bool, _ folder: OpenFolder
    ) throws(Errno) -> String {
        for number in 1...Self.maxNumber {
            let name = number == 1 ? name : FileName.numbered(name, number, isFolder: isFolder)
            do throws(Errno) {
                try folder.rename(part, toNew: name)
                return name
            } catch .exists {}
        }
        throw .exists
    }
}
