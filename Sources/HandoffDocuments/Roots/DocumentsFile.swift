import HandoffModel
import LoopIO

/// The file in which a user configures shared folders: lines of `key = value`, comments and
/// headings, as in handoffd.conf. Each invalid line is reported and skipped.
package enum DocumentsFile {
    /// An error in a file. The description names the file, the line, and the allowed values.
    package struct Problem: Equatable, Sendable, CustomStringConvertible {
        /// The file, and the line, counted from 1.
        package let place: String
        /// The error, and the allowed values.
        package let message: String

        package var description: String { "\(place): \(message)" }
    }

    /// The maximum size of the file, and of a line, in bytes.
    package static let byteLimit = 65_536
    private static let lineLimit = 4400
    /// The maximum number of errors reported for one file.
    private static let maxProblems = 32

    /// The file for all users of the machine.
    static let systemPath = "/etc/handoff/documents.conf"

    /// Returns the files to read, in ascending order of precedence.
    package static func paths(environment: [String: String]) -> [String] {
        var paths = [systemPath]
        // A relative path must be ignored (XDG Base Directory Specification).
        if let folder = environment["XDG_CONFIG_HOME"], folder.hasPrefix("/") {
            paths.append("\(folder)/handoff/documents.conf")
        } else if let home = environment["HOME"], home.hasPrefix("/") {
            paths.append("\(home)/.config/handoff/documents.conf")
        }
        return paths
    }

    /// Reads the system's file and the user's, whose names take precedence. Blocks while the file
    /// system does.
    package static func read(environment: [String: String]) -> (roots: SharedRoots, problems: [Problem]) {
        var roots = SharedRoots()
        var problems: [Problem] = []
        for path in paths(environment: environment) {
            do throws(Errno) {
                let bytes = try FileTree.content(of: path, limit: byteLimit)
                let (more, wrong) = parse(bytes, path: path, home: environment["HOME"])
                roots.merge(more)
                problems += wrong
            } catch .noSuchFile {
                continue
            } catch .fileTooLarge {
                problems.append(
                    Problem(place: path, message: "the file is too large: the maximum is \(byteLimit / 1024) KiB"))
            } catch {
                problems.append(Problem(place: path, message: "cannot read the file: \(error)"))
            }
        }
        return (roots, problems)
    }

    /// Parses a file.
    /// - Parameters:
    ///   - path: the path in error messages.
    ///   - home: the replacement for `~`.
    package static func parse(
        _ bytes: [UInt8], path: String, home: String?
    ) -> (roots: SharedRoots, problems: [Problem]) {
        var roots = SharedRoots()
        var problems: [Problem] = []
        var lines: [String: Int] = [:]
        var number = 0
        for line in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            number += 1
            do throws(LineError) {
                guard let setting = try setting(line, home: home) else { continue }
                switch setting {
                case .root(let folder):
                    if let first = lines[folder.name] {
                        throw LineError(
                            "the name '\(folder.name)' is already used in line \(first), which takes precedence")
                    }
                    guard roots.add(folder) else {
                        throw LineError("there are more than \(SharedRoots.maxFolders) roots")
                    }
                    lines[folder.name] = number
                case .checkouts(let folder):
                    guard roots.addCheckouts(folder) else {
                        throw LineError("there are more than \(SharedRoots.maxFolders) folders with checkouts")
                    }
                }
            } catch {
                if problems.count < maxProblems {
                    problems.append(Problem(place: "\(path):\(number)", message: error.message))
                }
            }
        }
        return (roots, problems)
    }

    private enum Setting {
        case root(SharedRoots.Folder)
        case checkouts(String)
    }

    private struct LineError: Error {
        let message: String

        init(_ message: String) {
            self.message = message
        }
    }

    private static func setting(_ bytes: ArraySlice<UInt8>, home: String?) throws(LineError) -> Setting? {
        let line = bytes.withoutBlanks
        guard line.count <= lineLimit else { throw LineError("the line is longer than \(lineLimit) bytes") }
        guard line.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }),
            let text = String(validating: line, as: UTF8.self)
        else { throw LineError("expected UTF-8 text without control characters") }
        guard let opening = line.first, opening != UInt8(ascii: "#") else { return nil }
        if opening == UInt8(ascii: "["), line.last == UInt8(ascii: "]") { return nil }
        guard let equals = line.firstIndex(of: UInt8(ascii: "=")),
            let word = String(validating: line[..<equals].withoutBlanks, as: UTF8.self),
            let value = String(validating: line[(equals + 1)...].withoutBlanks, as: UTF8.self)
        else {
            throw LineError(
                "invalid line '\(shown(text))': expected 'root = NAME FOLDER', 'checkouts = FOLDER', '[heading]', "
                    + "'# comment' or an empty line")
        }
        switch word {
        case "root":
            let name = value.prefix { $0 != " " && $0 != "\t" }
            let path = value.dropFirst(name.count).drop { $0 == " " || $0 == "\t" }
            guard SharedRoots.isName(String(name)) else {
                throw LineError(
                    "'\(shown(String(name)))' is not a root name: expected 1 to 64 letters, digits, '.', '_' or '-'"
                )
            }
            guard let folder = SharedRoots.Folder(name: String(name), path: try folder(String(path), home: home)) else {
                throw LineError("'\(shown(String(path)))' is not a folder: expected an absolute path or '~/PATH'")
            }
            return .root(folder)
        case "checkouts": return .checkouts(try folder(value, home: home))
        default: throw LineError("unknown key '\(shown(word))'; allowed keys: root, checkouts")
        }
    }

    private static func folder(_ text: String, home: String?) throws(LineError) -> String {
        guard text == "~" || text.hasPrefix("~/") else {
            guard text.hasPrefix("/") else {
                throw LineError("'\(shown(text))' is not a folder: expected an absolute path or '~/PATH'")
            }
            return text
        }
        guard let home, home.hasPrefix("/") else { throw LineError("cannot expand '~': HOME is not set") }
        return home + text.dropFirst()
    }

    /// Escapes a text of the user and shortens it for an error message.
    private static func shown(_ text: String) -> String {
        let text = VisibleText.escape(text)
        return text.count > 80 ? String(text.prefix(80)) + "…" : text
    }
}
