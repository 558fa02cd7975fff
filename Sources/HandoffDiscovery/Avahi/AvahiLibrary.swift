import CAvahi
import LoopIO

/// libavahi-client behind `MulticastLibrary`. It must be used on a discovery thread. Every call
/// waits for avahi-daemon's reply on D-Bus, up to 25 s if the daemon hangs.
final class AvahiLibrary: MulticastLibrary {
    /// The context of a callback. It outlives the C object that holds it unretained, because the
    /// dictionaries below release it only after that object is freed.
    final class Context {
        unowned let library: AvahiLibrary
        let query: RecordQuery?
        let group: UInt64

        init(_ library: AvahiLibrary, query: RecordQuery? = nil, group: UInt64 = 0) {
            self.library = library
            self.query = query
            self.group = group
        }
    }

    private let loop: DiscoveryLoop
    private let transport: AvahiProtocol
    /// Nil until it is opened, and if libavahi-client is not installed.
    private var functions: cavahi_client?
    private var client: OpaquePointer?
    private var clientContext: Context?
    private var browsers: [RecordQuery: (handle: OpaquePointer, context: Context)] = [:]
    private var groups: [UInt64: (handle: OpaquePointer, context: Context)] = [:]
    private var events: [MulticastEvent] = []

    let kind = DiscoveryKind.avahi

    init(loop: DiscoveryLoop, options: DiscoveryOptions) {
        self.loop = loop
        transport =
            options.useIPv4 == options.useIPv6
            ? AvahiProtocol(AVAHI_PROTO_UNSPEC) : AvahiProtocol(options.useIPv4 ? AVAHI_PROTO_INET : AVAHI_PROTO_INET6)
    }

    deinit { close() }

    func open() {
        close()
        // Check before loading the library, which also needs a descriptor.
        if let error = DescriptorReserve.shortage() {
            events = [.lost("\(error)")]
            return
        }
        if functions == nil { functions = AvahiLibrary.load() }
        guard let functions else {
            events = [.waiting("libavahi-client is not installed")]
            return
        }
        let context = Context(self)
        clientContext = context
        var error: Int32 = 0
        // The pointer is raw only because the C module is not part of the loop's interface.
        let poll = loop.avahiPoll.assumingMemoryBound(to: AvahiPoll.self)
        // client_new calls back before it returns, so the callback uses only its arguments. It also
        // pings the daemon, so that the bus starts a daemon that is enabled but not running.
        // Without one, it waits for it.
        client = functions.client_new(
            poll, AVAHI_CLIENT_NO_FAIL,
            { client, state, context in
                guard let client, let context else { return }
                Unmanaged<Context>.fromOpaque(context).takeUnretainedValue().library.stateChanged(state, of: client)
            }, Unmanaged.passUnretained(context).toOpaque(), &error)
        if client == nil {
            events = [.lost(AvahiLibrary.text(of: error))]
            clientContext = nil
        }
    }

    func close() {
        // This closes the bus connection first, so that freeing the rest does not wait for a reply.
        // avahi-daemon withdraws the publications of a closed connection. Never called in a
        // callback: the driver acts between turns.
        if let client { functions?.client_free(client) }
        client = nil
        clientContext = nil
        browsers = [:]
        groups = [:]
    }

    func takeEvents() -> [MulticastEvent] {
        defer { events = [] }
        return events
    }

    func browse(_ query: RecordQuery) throws(MulticastError) {
        guard let functions, let client else { throw .disconnected("not connected") }
        let context = Context(self, query: query)
        let handle = functions.record_browser_new(
            client, interface(query.interface), transport, query.name, UInt16(AVAHI_DNS_CLASS_IN),
            UInt16(query.kind.rawValue), AVAHI_LOOKUP_USE_MULTICAST,
            { _, interface, transport, event, _, _, _, data, size, _, context in
                guard let context else { return }
                Unmanaged<Context>.fromOpaque(context).takeUnretainedValue().browsed(
                    event, interface: interface, transport: transport,
                    data: UnsafeRawBufferPointer(start: data, count: data == nil ? 0 : size))
            }, Unmanaged.passUnretained(context).toOpaque())
        guard let handle else { throw lastError }
        browsers[query] = (handle, context)
    }

    func stopBrowsing(_ query: RecordQuery) throws(MulticastError) {
        // The context lives until the end of this call, longer than the browser.
        guard let functions, let browser = browsers.removeValue(forKey: query) else { return }
        try check(functions.record_browser_free(browser.handle))
    }

    func makeGroup(_ id: UInt64, records: [PublishedRecord], interface: UInt32?) throws(MulticastError) {
        guard let functions, let client else { throw .disconnected("not connected") }
        let context = Context(self, group: id)
        let handle = functions.entry_group_new(
            client,
            { _, state, context in
                guard let context else { return }
                Unmanaged<Context>.fromOpaque(context).takeUnretainedValue().groupChanged(state)
            }, Unmanaged.passUnretained(context).toOpaque())
        guard let handle else { throw lastError }
        groups[id] = (handle, context)
        for record in records {
            try add(record, to: handle, on: interface, flags: record.isShared ? [] : [AVAHI_PUBLISH_NO_PROBE])
        }
        try check(functions.entry_group_commit(handle))
    }

    func update(_ id: UInt64, record: PublishedRecord, interface: UInt32?) throws(MulticastError) {
        guard let group = groups[id] else { throw .refused("no such group") }
        try add(record, to: group.handle, on: interface, flags: [AVAHI_PUBLISH_UPDATE, AVAHI_PUBLISH_NO_PROBE])
    }

    func freeGroup(_ id: UInt64) throws(MulticastError) {
        guard let functions, let group = groups.removeValue(forKey: id) else { return }
        try check(functions.entry_group_free(group.handle))
    }

    private func add(
        _ record: PublishedRecord, to group: OpaquePointer, on index: UInt32?, flags: [AvahiPublishFlags]
    ) throws(MulticastError) {
        guard let functions else { throw .disconnected("not connected") }
        switch record {
        case .address(let host, let address):
            var value = AvahiAddress()
            value.proto = AvahiProtocol(address.isIPv4 ? AVAHI_PROTO_INET : AVAHI_PROTO_INET6)
            withUnsafeMutableBytes(of: &value.data) { $0.copyBytes(from: address.bytes.prefix($0.count)) }
            let flags = AvahiLibrary.union(flags + [AVAHI_PUBLISH_NO_REVERSE])
            try check(functions.entry_group_add_address(group, interface(index), transport, flags, host, &value))
        case .raw(let name, let kind, let lifetime, let data, let isShared):
            let flags = AvahiLibrary.union(flags + (isShared ? [] : [AVAHI_PUBLISH_UNIQUE]))
            try check(
                functions.entry_group_add_record(
                    group, interface(index), transport, flags, name, UInt16(AVAHI_DNS_CLASS_IN),
                    UInt16(kind.rawValue), lifetime, data, data.count))
        }
    }

    private func stateChanged(_ state: AvahiClientState, of client: OpaquePointer) {
        switch state {
        case AVAHI_CLIENT_S_RUNNING, AVAHI_CLIENT_S_REGISTERING, AVAHI_CLIENT_S_COLLISION:
            // The state describes the daemon's own host name, which is irrelevant here.
            events.append(.running)
        case AVAHI_CLIENT_CONNECTING:
            events.append(.waiting("avahi-daemon is not running"))
        default:
            events.append(.lost(AvahiLibrary.text(of: functions?.client_errno(client) ?? 0)))
        }
    }

    private var lastError: MulticastError {
        guard let functions, let client else { return .disconnected("closed") }
        return error(functions.client_errno(client))
    }

    private func check(_ result: Int32) throws(MulticastError) {
        if result < 0 { throw error(result) }
    }

    private func error(_ code: Int32) -> MulticastError {
        let text = AvahiLibrary.text(of: code)
        switch Int(code) {
        case AVAHI_ERR_COLLISION:
            return .collision(text)
        case AVAHI_ERR_BAD_STATE, AVAHI_ERR_DBUS_ERROR, AVAHI_ERR_DISCONNECTED, AVAHI_ERR_NO_DAEMON,
            AVAHI_ERR_TIMEOUT:
            // D-Bus errors that have no Avahi name, such as no reply within 25 s, are reported as
            // DBUS_ERROR.
            return .disconnected(text)
        case AVAHI_ERR_TOO_MANY_CLIENTS, AVAHI_ERR_TOO_MANY_OBJECTS, AVAHI_ERR_TOO_MANY_ENTRIES:
            return .limited(text)
        default:
            return .refused(text)
        }
    }

    private func interface(_ index: UInt32?) -> AvahiIfIndex {
        AvahiIfIndex(clamping: index.map { Int($0) } ?? AVAHI_IF_UNSPEC)
    }

    private static func load() -> cavahi_client? {
        withUnsafeTemporaryAllocation(of: cavahi_client.self, capacity: 1) { functions in
            // Do not read a table that was not filled completely.
            guard let table = functions.baseAddress, cavahi_load_client(table) != 0 else { return nil }
            return table.pointee
        }
    }

    private static func union(_ flags: [AvahiPublishFlags]) -> AvahiPublishFlags {
        AvahiPublishFlags(rawValue: flags.reduce(0) { $0 | $1.rawValue })
    }

    private static func text(of code: Int32) -> String {
        // Avahi's messages are sentences without a period.
        avahi_strerror(code).map { String(cString: $0).lowercased() } ?? "error \(code)"
    }

    fileprivate func queue(_ event: MulticastEvent) { events.append(event) }
}

extension AvahiLibrary.Context {
    /// Handles a browser report that has the record's data in wire form. It copies the data, which
    /// is valid only during the callback.
    fileprivate func browsed(
        _ event: AvahiBrowserEvent, interface: AvahiIfIndex, transport: AvahiProtocol, data: UnsafeRawBufferPointer
    ) {
        guard let query else { return }
        let link = RecordLink(
            interface: UInt32(clamping: interface), isIPv6: transport == AvahiProtocol(AVAHI_PROTO_INET6))
        switch event {
        case AVAHI_BROWSER_NEW: library.queue(.appeared(query, link, Array(data)))
        case AVAHI_BROWSER_REMOVE: library.queue(.vanished(query, link, Array(data)))
        case AVAHI_BROWSER_ALL_FOR_NOW: library.queue(.allForNow(query))
        case AVAHI_BROWSER_FAILURE: library.queue(.browserFailed(query, "avahi-daemon ended the browser"))
        default: break
        }
    }

    fileprivate func groupChanged(_ state: AvahiEntryGroupState) {
        switch state {
        case AVAHI_ENTRY_GROUP_ESTABLISHED: library.queue(.groupEstablished(group))
        case AVAHI_ENTRY_GROUP_COLLISION: library.queue(.groupCollided(group))
        case AVAHI_ENTRY_GROUP_FAILURE: library.queue(.groupFailed(group, "avahi-daemon ended the group"))
        default: break
        }
    }
}
