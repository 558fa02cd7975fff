/// The received files that are documents, which programs only read, by the system's MIME database
/// (shared-mime-info).
///
/// A list of executable types would never be complete: desktops run many kinds of files on a click,
/// and installed apps add more. So a file is a document only if each type that the database has for
/// its name is in the list below, and its content does not start like a program.
package struct DocumentTypes {
    /// The maximum size of a list of patterns, in bytes; that of Debian 12 has 60,000.
    private static let maxList = 4_194_304
    /// The number of bytes read from the start of a file.
    private static let beginning = 4096

    /// A pattern for file names, and the corresponding type.
    private struct Glob {
        let type: Substring
        let pattern: String
        let isExact: Bool
    }

    private let globs: [Glob]

    /// Reads the database in the data folders, and in the system's default folders, which
    /// `XDG_DATA_DIRS` may omit.
    package init(environment: [String: String]) {
        let folders = DataFolders.list(environment: environment)
        let system = DataFolders.list(environment: [:]).filter { !folders.contains($0) }
        self.init(folders: folders + system)
    }

    /// Reads `mime/globs2` in these folders. Without such a file, no file is a document.
    package init(folders: [String]) {
        globs = folders.flatMap { folder -> [Glob] in
            guard let file = try? LocalFile.read(folder + "/mime/globs2", limit: Self.maxList) else { return [] }
            return String(decoding: file.bytes, as: UTF8.self).split(separator: "\n").compactMap { line in
                // weight:type:pattern[:flags], see the Shared MIME-info Database specification.
                let fields = line.split(separator: ":", omittingEmptySubsequences: false)
                guard !line.hasPrefix("#"), fields.count >= 3 else { return nil }
                let isExact = fields.dropFirst(3).contains { $0.split(separator: ",").contains("cs") }
                return Glob(type: fields[1], pattern: String(fields[2]), isExact: isExact)
            }
        }
    }

    /// True if a plain file is a document. Reads the file.
    package func isDocument(_ path: String) -> Bool {
        guard isDocument(name: String(path.split(separator: "/").last ?? "")) else { return false }
        guard let bytes = try? LocalFile.beginning(of: path, limit: Self.beginning) else { return false }
        return !Self.programs.contains { bytes.starts(with: $0) }
    }

    /// True if a file with this name is a document unless its content is a program.
    package func isDocument(name: String) -> Bool {
        let types = types(of: name)
        return !types.isEmpty && types.allSatisfy(Self.isDocument)
    }

    /// The types whose patterns match a name. The program that opens the file decides which of them
    /// applies.
    func types(of name: String) -> Set<Substring> {
        let folded = name.lowercased()
        let found = globs.filter { glob in
            glob.isExact
                ? NamePattern.matches(glob.pattern, name) : NamePattern.matches(glob.pattern.lowercased(), folded)
        }
        return Set(found.map(\.type))
    }

    private static func isDocument(_ type: Substring) -> Bool {
        families.contains { type.hasPrefix($0) } || documents.contains(String(type))
    }

    private static let families = [
        "audio/", "font/", "image/", "video/", "application/vnd.oasis.opendocument.",
        "application/vnd.openxmlformats-officedocument.",
    ]

    private static let documents: Set<String> = [
        "application/epub+zip", "application/geo+json", "application/gpx+xml", "application/gzip", "application/json",
        "application/msword", "application/ogg", "application/oxps", "application/pdf", "application/rtf",
        "application/vnd.apple.keynote", "application/vnd.apple.numbers", "application/vnd.apple.pages",
        "application/vnd.google-earth.kml+xml", "application/vnd.ms-excel", "application/vnd.ms-powerpoint",
        "application/vnd.rar", "application/x-7z-compressed", "application/x-bzip", "application/x-bzip-compressed-tar",
        "application/x-compressed-tar", "application/x-mobipocket-ebook", "application/x-subrip", "application/x-tar",
        "application/x-xz", "application/x-xz-compressed-tar", "application/x-zstd-compressed-tar",
        "application/xhtml+xml", "application/xml", "application/zip", "application/zstd", "message/rfc822",
        "text/calendar", "text/css", "text/csv", "text/html", "text/markdown", "text/plain", "text/richtext",
        "text/rtf", "text/tab-separated-values", "text/vcard", "text/vtt", "text/x-authors", "text/x-bibtex",
        "text/x-changelog", "text/x-chdr", "text/x-c++hdr", "text/x-c++src", "text/x-copying", "text/x-credits",
        "text/x-csrc", "text/x-install", "text/x-log", "text/x-makefile", "text/x-news", "text/x-opml+xml",
        "text/x-patch", "text/x-readme", "text/x-tex", "text/x-uri", "text/x-vcard", "text/xml",
    ]

    /// The first bytes of programs: Linux, Windows and macOS executables, scripts, Java classes,
    /// Windows shortcuts and desktop entries.
    private static let programs: [[UInt8]] = [
        [0x7F, 0x45, 0x4C, 0x46], Array("MZ".utf8), [0xFE, 0xED, 0xFA], [0xCE, 0xFA, 0xED, 0xFE],
        [0xCF, 0xFA, 0xED, 0xFE],
        Array("#!".utf8), [0xEF, 0xBB, 0xBF] + Array("#!".utf8), [0xCA, 0xFE, 0xBA, 0xBE],
        [0x4C, 0, 0, 0, 1, 0x14, 2, 0], Array("[Desktop Entry]".utf8), Array("[KDE Desktop Entry]".utf8),
    ]
}
