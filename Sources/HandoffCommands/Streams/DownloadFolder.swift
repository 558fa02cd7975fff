import HandoffModel
import LoopIO

/// The folder in which the user's desktop keeps downloads.
enum DownloadFolder {
    /// The longest file of user folders that is read, in bytes.
    private static let limit = 65_536

    /// The path of the folder, which is made where it is missing.
    /// - Throws: `CommandFailure` when there is none and none can be made.
    static func make() throws(CommandFailure) -> String {
        guard let home = ProcessEnvironment.value("HOME"), home.hasPrefix("/") else {
            throw .file("receive into", "the folder for downloads", why: "HOME names no folder")
        }
        let configuration = ProcessEnvironment.value("XDG_CONFIG_HOME").flatMap { $0.hasPrefix("/") ? $0 : nil }
        let file = try? LocalFile.read("\(configuration ?? "\(home)/.config")/user-dirs.dirs", limit: limit)
        let path = path(home: home, userFolders: file.map { String(systemBytes: $0.bytes) })
        guard !FolderListing.isFolder(path) else { return path }
        do throws(Errno) {
            try FolderListing.makeFolder(path)
        } catch {
            throw .file("make", path, why: "\(error)")
        }
        return path
    }

    /// - Parameter userFolders: the content of `user-dirs.dirs` (user-dirs.dirs(5)), which shells read: there are no lines but
    ///   `XDG_NAME_DIR="$HOME/…"` and such with absolute paths.
    static func path(home: String, userFolders: String?) -> String {
        // Scalars, not characters: a name may begin with a mark, which makes one character with the slash or quote before it.
        for line in (userFolders ?? "").unicodeScalars.split(separator: "\n").reversed() {
            let blanks: Set<Unicode.Scalar> = [" ", "\t", "\r"]
            let text = line.drop { blanks.contains($0) }
            guard text.starts(with: prefix.unicodeScalars) else { continue }
            let rest = text.dropFirst(prefix.unicodeScalars.count)
            guard let end = rest.lastIndex(of: "\""), rest[rest.index(after: end)...].allSatisfy(blanks.contains) else {
                continue
            }
            let value = unquoted(rest[..<end])
            if value.starts(with: "$HOME/".unicodeScalars) {
                return home + String(value.dropFirst("$HOME".unicodeScalars.count))
            }
            if value.first == "/" { return String(value) }
        }
        return "\(home)/Downloads"
    }

    private static let prefix = "XDG_DOWNLOAD_DIR=\""

    private static func unquoted(_ text: Substring.UnicodeScalarView) -> String.UnicodeScalarView {
        var value = String.UnicodeScalarView()
        var isEscaped = false
        for scalar in text {
            if scalar == "\\", !isEscaped {
                isEscaped = true
            } else {
                value.append(scalar)
                isEscaped = false
            }
        }
        return value
    }
}
