import Glibc
import LoopIO

/// How content that is complete gets its name.
enum Naming: Sendable {
    /// The name as it is; a file that has it is replaced.
    case replacing
    /// The name as it is, unless something has it.
    case new
    /// The name, or the first one with a number that nothing has.
    case numbered

    /// The highest number; a folder with more of one name is somebody's mistake.
    private static let most = 9999

    /// Renames a complete part.
    /// - Returns: the name that it got, and whether the file system has refused the one that it was to get.
    /// - Throws: EEXIST when the name is taken.
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
        for number in 1...Self.most {
            let name = number == 1 ? name : FileName.numbered(name, number, isFolder: isFolder)
            do throws(Errno) {
                try folder.rename(part, toNew: name)
                return name
            } catch .exists {}
        }
        throw .exists
    }
}
