/// Pages and containers that are never offered: the lines of `browser.conf`.
///
/// A line is a page pattern (`PagePattern`), or `container NAME` with Firefox's name for a tab
/// container. Empty lines are ignored, as are comments: text after a `#` at the start of a line or
/// after a blank.
///
/// Fails closed: if a file cannot be read or has an invalid line, every page is excluded.
package struct PageExclusions: Sendable, Equatable {
    /// A reason why every page is excluded.
    package struct Problem: Sendable, Equatable, CustomStringConvertible {
        /// The path of the file.
        let path: String
        /// The line number, from 1; nil for the whole file.
        let line: Int?
        /// A sentence fragment for display.
        let reason: String

        package var description: String { (line.map { "\(path), line \($0)" } ?? path) + ": \(reason)" }
    }

    /// The file size limit in bytes.
    package static let maxFile = 65_536
    /// The container of a tab whose container is unknown: Firefox shows it only to extensions with
    /// the permission for cookies.
    package static let unknownContainer = "unknown"
    private static let containerPrefix = "firefox-"

    private var patterns: [PagePattern] = []
    private var containers: Set<String> = []
    /// True if any container is excluded.
    package var excludeContainers: Bool { !containers.isEmpty }
    /// The problems, in the order of files and lines.
    package private(set) var problems: [Problem] = []

    /// Excludes nothing.
    package init() {}

    /// Returns the files of the administrator and of the user.
    /// - Parameter configuration: The user's configuration folder; nil if there is none.
    package static func paths(configuration: String?) -> [String] {
        ["/etc", configuration].compactMap(\.self).map { $0 + "/handoff/browser.conf" }
    }

    /// Reads the files.
    /// - Parameter read: Returns the content of a file of at most `maxFile` bytes; nil if it does
    ///   not exist. Its error is the reason for display.
    package init(_ paths: [String], read: (String) throws -> [UInt8]?) {
        for path in paths {
            do {
                if let bytes = try read(path) { add(bytes, from: path) }
            } catch {
                problems.append(Problem(path: path, line: nil, reason: "cannot read it: \(error)"))
            }
        }
    }

    private mutating func add(_ bytes: [UInt8], from path: String) {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let text = bytes.starts(with: mark) ? bytes.dropFirst(mark.count) : bytes[...]
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: { $0 == 10 }).enumerated() {
            do throws(PagePattern.Failure) {
                try add(line: Self.words(line))
            } catch {
                problems.append(Problem(path: path, line: index + 1, reason: error.reason))
            }
        }
    }

    /// Returns the words of a line before its comment.
    private static func words(_ line: ArraySlice<UInt8>) -> ArraySlice<Substring> {
        let words = String(decoding: line, as: UTF8.self).split { $0 == " " || $0 == "\t" || $0 == "\r" }
        return words.prefix { !$0.hasPrefix("#") }
    }

    private mutating func add(line words: ArraySlice<Substring>) throws(PagePattern.Failure) {
        guard let first = words.first else { return }
        if first.lowercased() == "container" {
            let name = words.dropFirst().first?.lowercased() ?? ""
            guard words.count == 2, name.hasPrefix(Self.containerPrefix), name != Self.containerPrefix else {
                throw PagePattern.Failure(
                    "write a container as the popup shows it, for example: container firefox-container-3")
            }
            containers.insert(name)
        } else {
            guard words.count == 1 else { throw PagePattern.Failure("more than one site or address on a line") }
            patterns.append(try PagePattern(first))
        }
    }

    /// Returns true if a page is excluded.
    ///
    /// - Parameters:
    ///   - url: An address that `WebPage` accepts.
    ///   - container: The container of its tab; nil for none, `unknownContainer` if the browser
    ///     does not show it.
    package func exclude(_ url: String, container: String?) -> Bool {
        if !problems.isEmpty { return true }
        if let container = container?.lowercased(),
            containers.contains(container) || container == Self.unknownContainer && !containers.isEmpty
        {
            return true
        }
        // No pattern matches an IPv6 address.
        let scheme = url.prefix { $0 != ":" }
        guard !patterns.isEmpty, !url.dropFirst(scheme.count).hasPrefix("://[") else { return false }
        guard let page = PageAddress(url) else { return true }
        return patterns.contains { $0.matches(page) }
    }
}
