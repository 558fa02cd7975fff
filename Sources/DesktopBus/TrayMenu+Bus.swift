import CSystemdBus
import LoopIO

/// The menu as com.canonical.dbusmenu. It has one level: the root, whose id is 0, and its items.
extension TrayMenu {
    static let interface = "com.canonical.dbusmenu"
    static let root: Int32 = 0
    /// The maximum number of ids and names to read from a call.
    private static let maxArguments = 1024

    /// Newer panels open no menu if one of these is missing.
    static var properties: [TrayProperty] {
        [
            TrayProperty("Version", "u") { $0.append(UInt32(3)) }, .text("TextDirection", "ltr"),
            .text("Status", "normal"), TrayProperty("IconThemePath", "as") { $0.container("a", "s") { _ in } },
        ]
    }

    /// Serves a call.
    ///
    /// - Parameter choose: Receives the effect of a chosen item.
    func serve(
        _ member: String, _ call: OpaquePointer, _ choose: (Action) -> Void
    ) throws(Errno) -> BusObject.Answer? {
        switch member {
        case "GetLayout":
            let parent = try BusReader.integer(call)
            let depth = try BusReader.integer(call)
            let names = try BusReader.texts(call, limit: Self.maxArguments)
            guard exists(parent) else { return .invalid("no item has the id \(parent)") }
            return .reply { writeLayout(parent, depth, names, to: &$0) }
        case "GetGroupProperties":
            let ids = try BusReader.list(call, "i", limit: Self.maxArguments, BusReader.integer)
            let names = try BusReader.texts(call, limit: Self.maxArguments)
            let found = ids.isEmpty ? [Self.root] + items.map(\.id) : ids.filter(exists)
            return .reply { Self.write(found.map { ($0, item($0)) }, names, to: &$0) }
        case "GetProperty":
            let id = try BusReader.integer(call)
            let name = try BusReader.text(call, "s")
            guard exists(id), let property = Self.values(item(id), [name]).first else {
                return .invalid("no item has the id \(id) and the property \(name)")
            }
            return .reply { $0.variant(property.signature, property.write) }
        case "Event":
            guard let action = try readEvent(call) else { return .invalid("no item has this id") }
            choose(action)
            return .reply()
        case "EventGroup":
            var unknown: [Int32] = []
            var actions: [Action] = []
            try Errno.check(sd_bus_message_enter_container(call, BusReader.type("a"), "(isvu)"))
            while try Errno.check(sd_bus_message_at_end(call, 0)) == 0, actions.count < Self.maxArguments,
                unknown.count < Self.maxArguments
            {
                try Errno.check(sd_bus_message_enter_container(call, BusReader.type("r"), "isvu"))
                var id: Int32 = 0
                if let action = try readEvent(call, &id) { actions.append(action) } else { unknown.append(id) }
                try Errno.check(sd_bus_message_exit_container(call))
            }
            guard !actions.isEmpty || unknown.isEmpty else { return .invalid("no item has one of these ids") }
            for action in actions { choose(action) }
            return .reply { Self.write(ids: unknown, to: &$0) }
        // The menu is always current.
        case "AboutToShow":
            let id = try BusReader.integer(call)
            return exists(id) ? .reply { $0.append(false) } : .invalid("no item has the id \(id)")
        case "AboutToShowGroup":
            let ids = try BusReader.list(call, "i", limit: Self.maxArguments, BusReader.integer)
            return .reply {
                Self.write(ids: [], to: &$0)
                Self.write(ids: ids.filter { !exists($0) }, to: &$0)
            }
        default: return nil
        }
    }

    private func exists(_ id: Int32) -> Bool { id == Self.root || item(id) != nil }

    /// Reads the arguments of an event.
    /// - Returns: The effect of the event, which is none for events other than a click; nil if no
    ///   item has the id.
    private func readEvent(_ call: OpaquePointer, _ id: inout Int32) throws(Errno) -> Action? {
        id = try BusReader.integer(call)
        let event = try BusReader.text(call, "s")
        try Errno.check(sd_bus_message_skip(call, "vu"))
        guard exists(id) else { return nil }
        return event == "clicked" ? item(id)?.action ?? Action.none : Action.none
    }

    private func readEvent(_ call: OpaquePointer) throws(Errno) -> Action? {
        var id: Int32 = 0
        return try readEvent(call, &id)
    }

    // MARK: - Writing

    private func writeLayout(_ parent: Int32, _ depth: Int32, _ names: [String], to message: inout BusMessage) {
        message.append(revision)
        let children = parent == Self.root && depth != 0 ? items : []
        Self.write(parent, item(parent), names, children: children, to: &message)
    }

    private static func write(
        _ id: Int32, _ item: Item?, _ names: [String], children: [Item], to message: inout BusMessage
    ) {
        message.container("r", "ia{sv}av") { node in
            node.append(id)
            TrayProperty.write(values(item, names), to: &node)
            node.container("a", "v") { list in
                for child in children {
                    list.variant("(ia{sv}av)") { write(child.id, child, names, children: [], to: &$0) }
                }
            }
        }
    }

    /// Writes `a(ia{sv})`: items and their properties. No item is the root.
    static func write(_ items: [(id: Int32, item: Item?)], _ names: [String], to message: inout BusMessage) {
        message.container("a", "(ia{sv})") { list in
            for (id, item) in items {
                list.container("r", "ia{sv}") { entry in
                    entry.append(id)
                    TrayProperty.write(values(item, names), to: &entry)
                }
            }
        }
    }

    private static func write(ids: [Int32], to message: inout BusMessage) {
        message.container("a", "i") { list in
            for id in ids { list.append(id) }
        }
    }

    /// The properties of an item, or of the root, with these names; all if there are no names.
    private static func values(_ item: Item?, _ names: [String]) -> [TrayProperty] {
        let all: [TrayProperty]
        switch item {
        case nil: all = [.text("children-display", "submenu")]
        case let item? where item.isSeparator: all = [.text("type", "separator")]
        case let item?:
            all = [
                .text("label", item.label), .text("icon-name", item.icon),
                TrayProperty("enabled", "b") { $0.append(item.isEnabled) },
            ]
        }
        return names.isEmpty ? all : all.filter { names.contains($0.name) }
    }
}
