package import HandoffHandlers
import HandoffModel

/// Decides which pages may be offered. The extension itself excludes private windows; all other
/// rules are here.
package struct PageRules: Sendable, Equatable {
    /// Pages that the user or the administrator has excluded.
    package var exclusions: PageExclusions

    package init(exclusions: PageExclusions = PageExclusions()) {
        self.exclusions = exclusions
    }

    /// Returns the reason why no page is offered, for display; nil if pages are offered.
    /// - Parameter isContainerUnknown: True if the browser does not show the containers of its
    ///   tabs.
    func problem(isContainerUnknown: Bool) -> String? {
        guard let first = exclusions.problems.first else {
            guard isContainerUnknown, exclusions.excludeContainers else { return nil }
            return
                "no page is offered: browser.conf excludes a container, and Firefox shows containers to the extension only "
                + "after you press Identify Containers in the popup"
        }
        let more = exclusions.problems.count - 1
        let others = more == 0 ? "" : more == 1 ? " (and 1 more line)" : " (and \(more) more lines)"
        return "no page is offered: \(VisibleText.escape(first.description))\(others)"
    }

    /// True if a page may be offered: another device can open its address as is, the address has
    /// the same meaning there, and it is not excluded.
    package func allows(_ page: FrontPage) -> Bool {
        WebPage(page.url) != nil && !exclusions.exclude(page.url, container: page.container)
    }
}
