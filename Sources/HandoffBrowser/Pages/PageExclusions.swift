import HandoffHandlers
import HandoffModel

/// Pages and containers that are never offered: lines of `browser.conf`.
///
/// A line is a site as apps claim them (`bank.example` is that host alone, `*.bank.example` all below it), the beginning of an
/// address (`https://example.org/private/`), or `container NAME` with Firefox's name for the container of a tab. Empty lines and
/// lines that begin with `#` are passed over.
package struct PageExclusions: Sendable, Equatable {
    /// The longest file, in bytes.
    package static let longestFile = 65_536

    private var sites: [DomainClaim] = []
    private var beginnings: [String] = []
    private var containers: [String] = []
    /// Lines that cannot be understood, by number. Who writes one means to exclude something, so people are told.
    package private(set) var problems: [Int] = []

    /// Excludes nothing.
    package init() {}

    /// Reads a file.
    package init(parsing bytes: [UInt8]) {
        for (index, part) in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
            let words = String(decoding: part, as: UTF8.self).split { $0 == " " || $0 == "\t" || $0 == "\r" }
            guard let first = words.first, !first.hasPrefix("#") else { continue }
            if first == "container" {
                if words.count == 2 { containers.append(String(words[1])) } else { problems.append(index + 1) }
            } else if words.count == 1, let site = DomainClaim(String(first)) {
                sites.append(site)
            } else if words.count == 1, WebURL.isAcceptable(String(first)) {
                beginnings.append(String(first))
            } else {
                problems.append(index + 1)
            }
        }
    }

    /// All that these exclude, and what others do.
    package mutating func add(_ others: PageExclusions) {
        sites += others.sites
        beginnings += others.beginnings
        containers += others.containers
        problems += others.problems
    }

    /// Whether a page is excluded.
    /// - Parameter host: as `WebPage` has it; nil where it has none that a site could mean.
    func exclude(_ url: String, host: String?, container: String?) -> Bool {
        if let host, sites.contains(where: { $0.covers(host) }) { return true }
        if beginnings.contains(where: { url.utf8.starts(with: $0.utf8) }) { return true }
        return container.map { containers.contains($0) } ?? false
    }
}
