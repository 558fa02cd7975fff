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
        let path = path(home: home, userFolders: file.map { String(decoding: $0.bytes, as: UTF8.self) })
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
        for line in (userFolders ?? "").split(separator: "\n").reversed() {
            let text = CommandContext.trimmed(String(line))
            guard text.hasPrefix("XDG_DOWNLOAD_DIR=\""), text.hasSuffix("\"") else { continue }
            let value = unquoted(text.dropFirst("XDG_DOWNLOAD_DIR=\"".count).dropLast())
            if value.hasPrefix("$HOME/") { return home + value.dropFirst("$HOME".count) }
            if value.hasPrefix("/") { return value }
        }
        return "\(home)/Downloads"
    }

    private static func unquoted(_ text: some StringProtocol) -> String {
        var value = ""
        var isEscaped = false
        for character in text {
            if character == "\\", !isEscaped {
                isEscaped = true
            } else {
                value.append(character)
                isEscaped = false
            }
        }
        return value
    }
}
