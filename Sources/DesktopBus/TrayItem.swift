import CSystemdBus
package import HandoffHandlers
import HandoffModel
package import LoopIO

/// The icon in the tray of the user's desktop (org.kde.StatusNotifierItem). Lives on the loop's
/// thread and never blocks.
///
/// Registers each time a tray appears on the bus. Nothing is sent while the content does not change.
package final class TrayItem: LoopBusDelegate {
    /// An event for the owner.
    package enum Event: Equatable {
        /// A tray accepted the icon.
        case appeared
        /// The tray or the bus has gone.
        case gone
        /// The user has chosen an item of the menu.
        case chosen(TrayMenu.Action, ActivationToken?)
    }

    /// The names of the icon in the theme: while nothing is offered, and while something is. They differ because Xfce's
    /// panel draws a hidden icon in the wrong colour, and draws it again only if its name changes.
    package static let icons = [passiveIcon, activeIcon]
    private static let passiveIcon = "dev.handoff1.Tray-symbolic"
    private static let activeIcon = "dev.handoff1.Tray-offers-symbolic"
    private static let watcher = "org.kde.StatusNotifierWatcher"
    private static let watcherPath = "/StatusNotifierWatcher"
    private static let interface = "org.kde.StatusNotifierItem"
    private static let path = "/StatusNotifierItem"
    private static let menuPath = "/StatusNotifierItem/Menu"
    /// The maximum time for a reply of the tray, in microseconds.
    private static let timeout: UInt64 = 25_000_000
    /// The number of refusals after which a tray is ignored.
    private static let maxRefusals = 8

    private let loop: EventLoop
    private let log: Logger
    private let hasIcon: Bool
    private let onEvent: (Event) -> Void
    private let bus: LoopBus
    private var menu: TrayMenu
    private var token: ActivationToken?
    private var timer: LoopTimer?
    private var backoff = Backoff.tray
    private var refusals = 0
    private var hasLoggedRefusal = false
    /// Counts the attempts to register, because the tray can change before it replies.
    private var attempt = 0
    private var isRegistered = false

    /// Starts connecting to the bus.
    ///
    /// - Parameters:
    ///   - hasIcon: True if both icons are installed. Otherwise, pixels are sent, because some panels
    ///     show nothing for a name that the theme lacks.
    ///   - onEvent: Called from the loop, never inside a call of this object.
    package init(
        loop: EventLoop, log: Logger, hasIcon: Bool, hasSettings: Bool, onEvent: @escaping (Event) -> Void
    ) {
        self.loop = loop
        self.log = log
        self.hasIcon = hasIcon
        self.onEvent = onEvent
        menu = TrayMenu(hasSettings: hasSettings)
        bus = LoopBus(.user, loop: loop, timeout: Self.timeout)
        bus.start(self)
    }

    /// Removes the icon. Nothing is reported afterwards.
    package func stop() {
        timer = nil
        bus.stop()
    }

    /// Sets the content of the menu.
    package func show(_ content: TrayContent, hasSettings: Bool) {
        let former = menu
        // Panels keep the menu from before it is opened, so all changes are sent.
        switch menu.show(content, hasSettings: hasSettings) {
        case .none: break
        case .layout:
            emit(Self.menuPath, TrayMenu.interface, "LayoutUpdated") { [menu] signal in
                signal.append(menu.revision)
                signal.append(TrayMenu.root)
            }
        case .items(let items):
            emit(Self.menuPath, TrayMenu.interface, "ItemsPropertiesUpdated") { signal in
                TrayMenu.write(items.map { ($0.id, $0) }, [], to: &signal)
                signal.container("a", "(ias)") { _ in }
            }
        }
        if menu.title != former.title {
            emit(Self.path, Self.interface, "NewTitle")
            emit(Self.path, Self.interface, "NewToolTip")
        }
        if menu.isActive != former.isActive {
            emit(Self.path, Self.interface, "NewStatus") { [menu] in $0.append(Self.status(menu)) }
            emit(Self.path, Self.interface, "NewIcon")
        }
    }

    private func emit(
        _ path: String, _ interface: String, _ member: String, _ fill: (inout BusMessage) -> Void = { _ in }
    ) {
        // A lost bus has no panel, and the next one reads everything.
        try? bus.emit(path, interface, member, fill)
    }

    // MARK: - The tray

    func busOpened() throws(Errno) {
        let owners = "sender='\(LoopBus.name)',interface='\(LoopBus.name)',member='NameOwnerChanged'"
        try bus.follow("\(owners),arg0='\(Self.watcher)'") { [weak self] in self?.ownerChanged($0) }
        // Before the registration, because panels read the properties immediately.
        try bus.serve(Self.path) { [weak self] interface, member, call throws(Errno) in
            try self?.serveItem(interface, member, call)
        }
        try bus.serve(Self.menuPath) { [weak self] interface, member, call throws(Errno) in
            try self?.serveMenu(interface, member, call)
        }
        // The reply arrives once the connection is authenticated and the match above is active.
        try bus.call(
            LoopBus.name, LoopBus.path, LoopBus.name, "NameHasOwner", { $0.append(Self.watcher) },
            then: { [weak self] reply in
                guard let reply else {
                    self?.bus.lost()
                    return
                }
                self?.bus.reached()
                if (try? BusReader.flag(reply)) ?? false { self?.appeared() }
            })
    }

    func busLost(wasOpen: Bool) {
        gone()
    }

    /// `NameOwnerChanged`: the name, its old owner, its new owner.
    private func ownerChanged(_ message: OpaquePointer) {
        guard sd_bus_message_get_sender(message).map({ String(cString: $0) }) == LoopBus.name,
            let name = try? BusReader.text(message, "s"), name == Self.watcher,
            (try? BusReader.text(message, "s")) != nil, let owner = try? BusReader.text(message, "s")
        else { return }
        gone()
        if !owner.isEmpty { appeared() }
    }

    private func appeared() {
        backoff.reset()
        refusals = 0
        register()
    }

    private func gone() {
        timer = nil
        attempt += 1
        guard isRegistered else { return }
        isRegistered = false
        onEvent(.gone)
    }

    private func register() {
        attempt += 1
        let attempt = attempt
        // By the path, to which the tray adds the sender.
        try? bus.call(
            Self.watcher, Self.watcherPath, Self.watcher, "RegisterStatusNotifierItem", startsService: false,
            { $0.append(Self.path) },
            then: { [weak self] reply in
                guard let self, attempt == self.attempt else { return }
                guard reply != nil else { return refused() }
                isRegistered = true
                onEvent(.appeared)
            })
    }

    /// An owner of the name is no proof of a tray: some have none until the desktop has started, or
    /// never.
    private func refused() {
        if !hasLoggedRefusal { log.notice("The tray has refused the icon") }
        hasLoggedRefusal = true
        refusals += 1
        guard refusals < Self.maxRefusals else { return }
        timer = loop.timer(after: backoff.next(), accuracy: .seconds(1)) { [weak self] in self?.register() }
    }

    // MARK: - The icon

    private func serveItem(
        _ interface: String, _ member: String, _ call: OpaquePointer
    ) throws(Errno) -> BusObject.Answer? {
        switch (interface, member) {
        case (LoopBus.propertiesInterface, _):
            return try TrayProperty.serve(member, call, Self.interface, properties)
        case (Self.interface, "ProvideXdgActivationToken"):
            token = ActivationToken(try BusReader.text(call, "s"))
            return .reply()
        // Panels that do not open the menu instead. Those that open it themselves never send this.
        case (Self.interface, "Activate"):
            choose(.settings)
            return .reply()
        case (Self.interface, "ContextMenu"), (Self.interface, "SecondaryActivate"), (Self.interface, "Scroll"):
            return .reply()
        default: return nil
        }
    }

    private static func status(_ menu: TrayMenu) -> String { menu.isActive ? "Active" : "Passive" }

    /// All properties, because some panels require each of them.
    private var properties: [TrayProperty] {
        let pixels = "a(iiay)"
        let empty = { (name: String) in TrayProperty(name, pixels) { $0.container("a", "(iiay)") { _ in } } }
        return [
            .text("Category", "ApplicationStatus"), .text("Id", "handoff"), .text("Title", menu.title),
            .text("Status", Self.status(menu)), TrayProperty("WindowId", "i") { $0.append(Int32(0)) },
            .text("IconThemePath", ""),
            .text("IconName", !hasIcon ? "" : menu.isActive ? Self.activeIcon : Self.passiveIcon),
            hasIcon ? empty("IconPixmap") : TrayProperty("IconPixmap", pixels) { TrayPixels.write(to: &$0) },
            .text("OverlayIconName", ""), empty("OverlayIconPixmap"), .text("AttentionIconName", ""),
            empty("AttentionIconPixmap"), .text("AttentionMovieName", ""),
            TrayProperty("ToolTip", "(sa(iiay)ss)") { [menu] property in
                property.container("r", "sa(iiay)ss") { tip in
                    tip.append("")
                    tip.container("a", "(iiay)") { _ in }
                    tip.append(menu.title)
                    tip.append("")
                }
            },
            TrayProperty("ItemIsMenu", "b") { $0.append(true) },
            TrayProperty("Menu", "o") { $0.append(path: Self.menuPath) },
        ]
    }

    // MARK: - The menu

    private func serveMenu(
        _ interface: String, _ member: String, _ call: OpaquePointer
    ) throws(Errno) -> BusObject.Answer? {
        switch interface {
        case LoopBus.propertiesInterface:
            return try TrayProperty.serve(member, call, TrayMenu.interface, TrayMenu.properties)
        case TrayMenu.interface:
            return try menu.serve(member, call) { [self] action in choose(action) }
        default: return nil
        }
    }

    private func choose(_ action: TrayMenu.Action) {
        let token = token
        self.token = nil
        // Deferred, because the owner may stop this object.
        if action != .none { loop.later { [weak self] in self?.onEvent(.chosen(action, token)) } }
    }
}
