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
    /// - Returns: the name that it got.
    /// - Throws: EEXIST when the name is taken.
    func give(_ name: String, to part: String, isFolder: Bool, in folder: OpenFolder) throws(Errno) -> String {
        switch self {
        case .replacing:
            let number = folder.raw
            try SystemCall.retrying { renameat(number, part.systemPath, number, name.systemPath) }
            return name
        case .new:
            try folder.rename(part, toNew: name)
            return name
        case .numbered:
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
}
