package import HandoffHandlers
import HandoffModel

/// Which pages are offered. The extension keeps private windows to itself before that; here is all else.
package struct PageRules: Sendable, Equatable {
    /// Pages that the user or the administrator has excluded.
    package var exclusions: PageExclusions

    package init(exclusions: PageExclusions = PageExclusions()) {
        self.exclusions = exclusions
    }

    /// Why no page is offered, for people; nil while pages are.
    /// - Parameter isContainerUnknown: whether the browser keeps the containers of its tabs secret.
    package func problem(isContainerUnknown: Bool) -> String? {
        guard let first = exclusions.problems.first else {
            guard isContainerUnknown, exclusions.excludeContainers else { return nil }
            return "no page is offered: browser.conf excludes a container, and Firefox shows containers to the extension only "
                + "after you have pressed Tell containers apart"
        }
        let more = exclusions.problems.count - 1
        let others = more == 0 ? "" : more == 1 ? " (and 1 more line)" : " (and \(more) more lines)"
        return "no page is offered: \(VisibleText.escape(first.description))\(others)"
    }

    /// Whether a page may be offered: an address that another device can open as it is, that means the same there, and that
    /// nobody has excluded.
    package func allows(_ page: FrontPage) -> Bool {
        WebPage(page.url) != nil && !exclusions.exclude(page.url, container: page.container)
    }
}
