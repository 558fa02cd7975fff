/// Pages and containers that are never offered: the lines of `browser.conf`.
///
/// A line is a page pattern (`PagePattern`), or `container NAME` with Firefox's name for the container of a tab. Empty lines, and
/// what follows a `#` at the start of a line or behind a blank, are comments.
///
/// It fails closed: while a file cannot be read, or has a line that is neither, every page is excluded.
package struct PageExclusions: Sendable, Equatable {
    /// Why every page is excluded.
    package struct Problem: Sendable, Equatable, CustomStringConvertible {
        /// The file.
        let path: String
        /// The number of the line, from 1; nil where the whole file is meant.
        let line: Int?
        /// A fragment for people.
        let reason: String

        package var description: String { (line.map { "\(path), line \($0)" } ?? path) + ": \(reason)" }
    }

    /// The file size limit in bytes.
    package static let maxFile = 65_536
    /// The container of a tab whose container is not known: Firefox names it only to extensions that may see cookies.
    package static let unknownContainer = "unknown"
    private static let containerPrefix = "firefox-"

    private var patterns: [PagePattern] = []
    private var containers: Set<String> = []
    /// Whether there are containers among them.
    package var excludeContainers: Bool { !containers.isEmpty }
    /// In the order of files and lines.
    package private(set) var problems: [Problem] = []

    /// Excludes nothing.
    package init() {}

    /// The files of the administrator and of the user.
    /// - Parameter configuration: the user's folder for settings; nil where there is none.
    package static func paths(configuration: String?) -> [String] {
        ["/etc", configuration].compactMap(\.self).map { $0 + "/handoff/browser.conf" }
    }

    /// Reads files.
    /// - Parameter read: the content of a file of at most `maxFile` bytes; nil when there is none. The error it throws is the reason
    ///   shown to people.
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

    /// The words of a line before its comment.
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
                    "a container is written as the popup shows it, such as container firefox-container-3")
            }
            containers.insert(name)
        } else {
            guard words.count == 1 else { throw PagePattern.Failure("a line has one site or address") }
            patterns.append(try PagePattern(first))
        }
    }

    /// Whether a page is excluded.
    ///
    /// - Parameters:
    ///   - url: an address that `WebPage` accepts.
    ///   - container: of its tab; nil for none, `unknownContainer` while the browser keeps it secret.
    package func exclude(_ url: String, container: String?) -> Bool {
        if !problems.isEmpty { return true }
        if let container = container?.lowercased(),
            containers.contains(container) || container == Self.unknownContainer && !containers.isEmpty
        {
            return true
        }
        // No pattern means an IPv6 address.
        let scheme = url.prefix { $0 != ":" }
        guard !patterns.isEmpty, !url.dropFirst(scheme.count).hasPrefix("://[") else { return false }
        guard let page = PageAddress(url) else { return true }
        return patterns.contains { $0.matches(page) }
    }
}
