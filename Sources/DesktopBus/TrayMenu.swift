package import HandoffHandlers

/// The menu of the tray icon, and the properties of the icon that depend on its content. Plain
/// values.
///
/// The ids of items are never used again for another item, because a panel may still show an
/// earlier menu.
package struct TrayMenu: Equatable, Sendable {
    /// The effect of an item.
    package enum Action: Equatable, Sendable {
        case offer(TrayContent.Offer)
        /// Pause (true) or resume.
        case pause(Bool)
        case send
        case settings
        /// None: text or a separator.
        case none
    }

    /// An item of the menu.
    package struct Item: Equatable, Sendable {
        package let id: Int32
        /// Underscores are doubled, because a single one marks a key. Empty for a separator.
        package let label: String
        package let icon: String
        package let action: Action

        init(_ id: Int32, _ label: String, icon: String = "", _ action: Action = .none) {
            self.id = id
            self.label = label.replacing("_", with: "__")
            self.icon = icon
            self.action = action
        }

        package var isSeparator: Bool { label.isEmpty }
        package var isEnabled: Bool { action != .none }
    }

    /// The difference between two menus.
    package enum Change: Equatable, Sendable {
        case none
        /// Only labels and icons differ, of these items.
        case items([Item])
        case layout
    }

    private enum Fixed {
        static let empty: Int32 = 1
        static let more: Int32 = 2
        static let separator: Int32 = 3
        static let pause: Int32 = 4
        static let resume: Int32 = 5
        static let settings: Int32 = 6
        static let send: Int32 = 7
        static let recentSeparator: Int32 = 8
        static let recent: Int32 = 9
        static let last: Int32 = 15
    }

    package private(set) var items: [Item] = []
    /// Counts the layouts.
    package private(set) var revision: UInt32 = 1
    /// The number of offers, including those that are not in the menu.
    private var count = 0
    private var isPaused = false
    private var lastID = Fixed.last

    package init(_ content: TrayContent = TrayContent(), hasSettings: Bool) {
        _ = show(content, hasSettings: hasSettings)
        revision = 1
    }

    /// True if a panel should show the icon. While paused there are no offers, but the menu has the
    /// item that ends the pause.
    package var isActive: Bool { count > 0 || isPaused }

    /// The title of the icon, and its tooltip. Has no text of other devices, because some panels
    /// interpret markup in tooltips.
    package var title: String {
        isPaused
            ? SessionLanguage.localized("handoff: paused")
            : count > 0
                ? SessionLanguage.localized("handoff: {count} offer", "handoff: {count} offers", count) : "handoff"
    }

    /// Returns the item with an id; nil if the menu has none.
    package func item(_ id: Int32) -> Item? { items.first { $0.id == id } }

    /// Changes the content.
    ///
    /// - Parameter hasSettings: True if the window with the settings is installed.
    package mutating func show(_ content: TrayContent, hasSettings: Bool) -> Change {
        var next = content.offers.map { item(for: $0) }
        count = next.count + Int(content.omitted)
        isPaused = content.paused ?? false
        if next.isEmpty { next = [Item(Fixed.empty, SessionLanguage.localized("No offers of other devices"))] }
        if content.omitted > 0 {
            let omitted = Int(content.omitted)
            next.append(
                hasSettings
                    ? Item(
                        Fixed.more,
                        SessionLanguage.localized("{count} more in Settings", "{count} more in Settings", omitted),
                        .settings)
                    : Item(
                        Fixed.more,
                        SessionLanguage.localized(
                            "{count} more: handoffctl list", "{count} more: handoffctl list", omitted)))
        }
        if let recent = content.recent, !recent.isEmpty {
            next += [Item(Fixed.recentSeparator, ""), Item(Fixed.recent, SessionLanguage.localized("Recent"))]
            next += recent.map { item(for: $0) }
        }
        if content.paused != nil || hasSettings { next.append(Item(Fixed.separator, "")) }
        if hasSettings { next.append(Item(Fixed.send, SessionLanguage.localized("Send Files…"), .send)) }
        switch content.paused {
        case true?: next.append(Item(Fixed.resume, SessionLanguage.localized("Resume"), .pause(false)))
        case false?: next.append(Item(Fixed.pause, SessionLanguage.localized("Pause"), .pause(true)))
        case nil: break
        }
        if hasSettings { next.append(Item(Fixed.settings, SessionLanguage.localized("Settings"), .settings)) }
        let former = items
        items = next
        guard next.map(\.id) == former.map(\.id) else {
            revision &+= 1
            return .layout
        }
        let changed = zip(next, former).filter { $0.label != $1.label || $0.icon != $1.icon }.map(\.0)
        return changed.isEmpty ? .none : .items(changed)
    }

    /// Returns the item of an offer, which keeps its id.
    private mutating func item(for offer: TrayContent.Offer) -> Item {
        let known = items.first { $0.offer?.device == offer.device && $0.offer?.activity == offer.activity }
        // A path is not the name of an icon.
        let icon = offer.icon.flatMap { $0.contains("/") ? nil : $0 } ?? ""
        return Item(known?.id ?? newID(), offer.text(SessionLanguage.translation), icon: icon, .offer(offer))
    }

    private mutating func newID() -> Int32 {
        lastID = lastID == .max ? Fixed.last + 1 : lastID + 1
        return lastID
    }
}

extension TrayMenu.Item {
    fileprivate var offer: TrayContent.Offer? {
        if case .offer(let offer) = action { offer } else { nil }
    }
}
