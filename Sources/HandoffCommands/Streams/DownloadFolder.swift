import HandoffModel
import LoopIO

/// The desktop's downloads folder.
enum DownloadFolder {
    /// The maximum size of `user-dirs.dirs`, in bytes.
    private static let limit = 65_536

    /// Returns the path of the folder, and creates the folder if it does not exist.
    /// - Throws: `CommandFailure` if the folder cannot be determined or created.
    static func make() throws(CommandFailure) -> String {
        guard let home = ProcessEnvironment.value("HOME"), home.hasPrefix("/") else {
            throw .file("receive into", "the downloads folder", why: "HOME is not set to an absolute path")
        }
        let configuration = ProcessEnvironment.value("XDG_CONFIG_HOME").flatMap { $0.hasPrefix("/") ? $0 : nil }
        let file = try? LocalFile.read("\(configuration ?? "\(home)/.config")/user-dirs.dirs", limit: limit)
        let path = path(home: home, userFolders: file.map { String(systemBytes: $0.bytes) })
        guard !FolderListing.isFolder(path) else { return path }
        do throws(Errno) {
            try FolderListing.createFolder(path)
        } catch {
            throw .file("create", path, why: "\(error)")
        }
        return path
    }

    /// - Parameter userFolders: the content of `user-dirs.dirs` (user-dirs.dirs(5)), which shells
    ///   read. It has only lines of the form `XDG_NAME_DIR="$HOME/…"`, or with an absolute path.
    static func path(home: String, userFolders: String?) -> String {
        // Use scalars, not characters: a name may begin with a combining mark, which forms one
        // character with the slash or quote before it.
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
