import DesktopBus
import HandoffControl
import HandoffHandlers
import HandoffModel
import HandoffTestSupport
import Testing

/// The menu of the tray icon.
struct TrayMenuTests {
    private static func offer(_ number: UInt8, _ label: String = "Draft", icon: String? = nil) -> TrayContent.Offer {
        TrayContent.Offer(
            device: Sample.device(1), activity: Sample.activityID(number), label: .alone(.verbatim(label)), icon: icon)
    }

    private func labels(_ menu: TrayMenu) -> [String] { menu.items.map(\.label) }

    @Test func `without offers the icon is passive, and the menu has no offer to choose`() {
        let menu = TrayMenu(hasSettings: true)
        #expect(!menu.isActive && menu.title == "handoff")
        #expect(labels(menu) == ["No offers of other devices", "", "Send Files…", "Pause", "Settings"])
        #expect(menu.items.map(\.isEnabled) == [false, false, true, true, true])
        #expect(menu.items.map(\.isSeparator) == [false, true, false, false, false])
    }

    @Test func `the title has the number of all offers, and the menu the number of those left out`() {
        let offers = (1...20).map { Self.offer($0) }
        let menu = TrayMenu(TrayContent(offers: offers, omitted: 480), hasSettings: true)
        #expect(menu.isActive && menu.title == "handoff: 500 offers")
        #expect(labels(menu).suffix(5) == ["480 more in Settings", "", "Send Files…", "Pause", "Settings"])
        #expect(TrayMenu(TrayContent(offers: [Self.offer(1)]), hasSettings: false).title == "handoff: 1 offer")
        let huge = TrayMenu(TrayContent(offers: offers, omitted: .max), hasSettings: false)
        #expect(huge.title == "handoff: 4294967315 offers")
        #expect(huge.items[20].action == .none, "there is no window to open")
    }

    @Test func `recent activities follow the offers, with the state of their device, and keep their ids`() {
        var recent = Self.offer(3, "Letter")
        recent.notes = [.phrase("closed there at {time}", ["time": [.verbatim("18:41")]])]
        var menu = TrayMenu(TrayContent(offers: [Self.offer(1)], recent: [recent]), hasSettings: false)
        #expect(labels(menu) == ["Draft", "", "Recent", "Letter · closed there at 18:41", "", "Pause"])
        #expect(menu.items[3].action == .offer(recent) && !menu.items[2].isEnabled)
        let id = menu.items[3].id
        #expect(menu.show(TrayContent(offers: [recent]), hasSettings: false) == .layout)
        #expect(menu.items.first?.id == id)
        #expect(!TrayMenu(TrayContent(recent: [recent]), hasSettings: false).isActive, "there is nothing to continue")
        #expect(throws: VarlinkError.self) {
            try TrayContent(recent: (1...6).map { Self.offer($0) }).check()
        }
    }

    @Test func `a pause keeps the icon, and its menu has only the item that ends it`() {
        let menu = TrayMenu(TrayContent(paused: true), hasSettings: false)
        #expect(menu.isActive && menu.title == "handoff: paused")
        #expect(labels(menu) == ["No offers of other devices", "", "Resume"])
        #expect(menu.items.last?.action == .pause(false))
    }

    @Test func `what a policy forbids can be neither paused nor resumed`() {
        #expect(labels(TrayMenu(TrayContent(paused: nil), hasSettings: false)) == ["No offers of other devices"])
        #expect(labels(TrayMenu(TrayContent(paused: nil), hasSettings: true)).last == "Settings")
    }

    @Test func `underscores are doubled, and a path is not an icon`() {
        let offers = [Self.offer(1, "my_file__x", icon: "/home/u/x.png"), Self.offer(2, "b", icon: "editor")]
        let menu = TrayMenu(TrayContent(offers: offers), hasSettings: false)
        #expect(labels(menu).prefix(2) == ["my__file____x", "b"])
        #expect(menu.items.prefix(2).map(\.icon) == ["", "editor"])
    }

    @Test func `the id of an ended offer is not used again, and the others keep theirs`() throws {
        var menu = TrayMenu(TrayContent(offers: [Self.offer(1), Self.offer(2)]), hasSettings: false)
        let ids = menu.items.map(\.id)
        #expect(menu.show(TrayContent(offers: [Self.offer(3), Self.offer(2)]), hasSettings: false) == .layout)
        #expect(menu.items[1].id == ids[1])
        #expect(!ids.contains(menu.items[0].id))
        #expect(menu.item(ids[0]) == nil, "a click in the earlier menu has no effect")
        #expect(menu.item(ids[1])?.action == .offer(Self.offer(2)))
    }

    @Test func `only differences are reported, and only a layout has a new revision`() {
        let content = TrayContent(offers: [Self.offer(1)])
        var menu = TrayMenu(content, hasSettings: true)
        let revision = menu.revision
        #expect(menu.show(content, hasSettings: true) == .none)
        let change = menu.show(TrayContent(offers: [Self.offer(1, "Other")]), hasSettings: true)
        #expect(change == .items([menu.items[0]]) && menu.items[0].label == "Other")
        #expect(menu.revision == revision)
        #expect(menu.show(TrayContent(paused: true), hasSettings: true) == .layout)
        #expect(menu.revision == revision + 1)
    }
}
