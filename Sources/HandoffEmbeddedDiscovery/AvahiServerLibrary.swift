import CAvahiCore
import HandoffDiscovery
import HandoffModel
import LoopIO

/// libavahi-core behind `MulticastLibrary`: a responder inside this process. It must be used on a
/// discovery thread.
final class AvahiServerLibrary: MulticastLibrary {
    /// The context of a callback. It outlives the C object that holds it unretained, because the
    /// dictionaries below release it only after that object is freed.
    final class Context {
        unowned let library: AvahiServerLibrary
        let query: RecordQuery?
        let group: UInt64

        init(_ library: AvahiServerLibrary, query: RecordQuery? = nil, group: UInt64 = 0) {
            self.library = library
            self.query = query
            self.group = group
        }
    }

    private let loop: DiscoveryLoop
    private let options: DiscoveryOptions
    private let logger: Logger
    private let transport: AvahiProtocol
    /// Nil until it is opened, and if libavahi-core is not installed.
    fileprivate private(set) var functions: cavahicore?
    private var server: OpaquePointer?
    private var serverContext: Context?
    private var browsers: [RecordQuery: (handle: OpaquePointer, context: Context)] = [:]
    private var groups: [UInt64: (handle: OpaquePointer, context: Context)] = [:]
    private var events: [MulticastEvent] = []
    private var gate: PacketGate
    private var poll: GatedPoll?

    let kind = DiscoveryKind.embedded
    let hears = true

    init(loop: DiscoveryLoop, options: DiscoveryOptions, logger: Logger) {
        self.loop = loop
        self.options = options
        self.logger = logger
        let protocols = (options.useIPv4, options.useIPv6 && !options.isLoopbackOnly)
        transport = AvahiProtocol(
            protocols.0 == protocols.1 ? AVAHI_PROTO_UNSPEC : protocols.0 ? AVAHI_PROTO_INET : AVAHI_PROTO_INET6)
        gate = PacketGate(serviceType: options.serviceType)
        // The pointer is raw only because the C module is not part of the loop's interface.
        let original = loop.avahiPoll.assumingMemoryBound(to: AvahiPoll.self)
        poll = GatedPoll(original, library: self)
    }

    /// Parses a packet. Returns nil if it is invalid or the gate rejects it.
    func admit(_ bytes: UnsafeRawBufferPointer) -> MulticastPacket? {
        guard let packet = MulticastPacket(bytes), gate.admits(packet, at: loop.now) else { return nil }
        return packet
    }

    /// Queues a packet that the library has read and reported to its browsers.
    func received(_ packet: MulticastPacket, on link: RecordLink, from source: IPAddress) {
        events.append(.heard(packet, link, from: source))
    }

    deinit { close() }

    func open() {
        close()
        // Check before loading the library, which also needs a descriptor.
        if let error = DescriptorReserve.shortage() {
            events = [.lost("\(error)")]
            return
        }
        if functions == nil, let loaded = AvahiServerLibrary.load() {
            functions = loaded
            AvahiLog.forward(to: logger, loaded)
        }
        guard let functions else {
            events = [.waiting("libavahi-core is not installed")]
            return
        }
        let context = Context(self)
        serverContext = context
        var error: Int32 = 0
        var configuration = AvahiServerConfig(options, functions)
        defer { functions.server_config_free(&configuration) }
        // server_new calls back before it returns, so the callback uses only its arguments. It
        // copies the configuration.
        server = functions.server_new(
            poll?.poll, &configuration,
            { _, state, context in
                guard let context else { return }
                Unmanaged<Context>.fromOpaque(context).takeUnretainedValue().library.stateChanged(state)
            }, Unmanaged.passUnretained(context).toOpaque(), &error)
        if server == nil {
            events = [.lost(AvahiServerLibrary.text(of: error))]
            serverContext = nil
        }
    }

    func close() {
        guard let functions else { return }
        // Free the browsers before the server. Freeing the server also frees the groups and sends
        // their goodbye packets.
        for browser in browsers.values { functions.s_record_browser_free(browser.handle) }
        if let server { functions.server_free(server) }
        poll?.serverFreed()
        server = nil
        serverContext = nil
        browsers = [:]
        groups = [:]
    }

    func takeEvents() -> [MulticastEvent] {
        defer { events = [] }
        return events
    }

    func browse(_ query: RecordQuery) throws(MulticastError) {
        guard let functions, let server else { throw .disconnected("not started") }
        let key = functions.key_new(query.name, UInt16(AVAHI_DNS_CLASS_IN), UInt16(query.kind.rawValue))
        guard let key else { throw .refused("no memory") }
        defer { functions.key_unref(key) }
        let context = Context(self, query: query)
        let handle = functions.s_record_browser_new(
            server, interface(query.interface), transport, key, AVAHI_LOOKUP_USE_MULTICAST,
            { _, interface, transport, event, record, _, context in
                guard let context else { return }
                Unmanaged<Context>.fromOpaque(context).takeUnretainedValue().browsed(
                    event, interface: interface, transport: transport, record: record)
            }, Unmanaged.passUnretained(context).toOpaque())
        guard let handle else { throw lastError }
        browsers[query] = (handle, context)
        if query.isForAddresses { gate.expect(host: query.name, of: query.instance) }
    }

    func setMembership(_ isMember: @escaping @Sendable (String) -> Bool) { gate.setMembership(isMember) }

    func stopBrowsing(_ query: RecordQuery) {
        // The context lives until the end of this call, longer than the browser.
        guard let functions, let browser = browsers.removeValue(forKey: query) else { return }
        functions.s_record_browser_free(browser.handle)
        if query.isForAddresses, !browsers.keys.contains(where: { $0.isForAddresses && $0.name == query.name }) {
            gate.forget(host: query.name)
        }
    }

    func makeGroup(_ id: UInt64, records: [PublishedRecord], interface: UInt32?) throws(MulticastError) {
        guard let functions, let server else { throw .disconnected("not started") }
        let context = Context(self, group: id)
        let handle = functions.s_entry_group_new(
            server,
            { _, _, state, context in
                guard let context else { return }
                Unmanaged<Context>.fromOpaque(context).takeUnretainedValue().groupChanged(state)
            }, Unmanaged.passUnretained(context).toOpaque())
        guard let handle else { throw lastError }
        groups[id] = (handle, context)
        for record in records {
            try add(record, to: handle, on: interface, flags: record.isShared ? [] : [AVAHI_PUBLISH_NO_PROBE])
        }
        try check(functions.s_entry_group_commit(handle))
    }

    func update(_ id: UInt64, record: PublishedRecord, interface: UInt32?) throws(MulticastError) {
        guard let group = groups[id] else { throw .refused("no such group") }
        try add(record, to: group.handle, on: interface, flags: [AVAHI_PUBLISH_UPDATE, AVAHI_PUBLISH_NO_PROBE])
    }

    func freeGroup(_ id: UInt64) {
        guard let functions, let group = groups.removeValue(forKey: id) else { return }
        functions.s_entry_group_free(group.handle)
    }

    private func add(
        _ record: PublishedRecord, to group: OpaquePointer, on index: UInt32?, flags: [AvahiPublishFlags]
    ) throws(MulticastError) {
        guard let functions else { throw .disconnected("not started") }
        switch record {
        case .address(let host, let address):
            var value = AvahiAddress()
            value.proto = AvahiProtocol(address.isIPv4 ? AVAHI_PROTO_INET : AVAHI_PROTO_INET6)
            withUnsafeMutableBytes(of: &value.data) { $0.copyBytes(from: address.bytes.prefix($0.count)) }
            let flags = AvahiServerLibrary.union(flags + [AVAHI_PUBLISH_NO_REVERSE])
            try check(functions.server_add_address(server, group, interface(index), transport, flags, host, &value))
        case .raw(let name, let kind, let lifetime, let data, let isShared):
            let record = functions.record_new_full(
                name, UInt16(AVAHI_DNS_CLASS_IN), UInt16(kind.rawValue), lifetime)
            guard let record else { throw .refused("no memory") }
            defer { functions.record_unref(record) }
            try check(functions.rdata_parse(record, data, data.count))
            let flags = AvahiServerLibrary.union(flags + (isShared ? [] : [AVAHI_PUBLISH_UNIQUE]))
            try check(functions.server_add(server, group, interface(index), transport, flags, record))
        }
    }

    private func stateChanged(_ state: AvahiServerState) {
        switch state {
        case AVAHI_SERVER_REGISTERING, AVAHI_SERVER_RUNNING, AVAHI_SERVER_COLLISION:
            // The state describes the server's own host name, which is random and not published.
            events.append(.running)
        case AVAHI_SERVER_FAILURE:
            events.append(.lost("the responder failed"))
        default:
            break
        }
    }

    private var lastError: MulticastError {
        guard let functions, let server else { return .disconnected("closed") }
        return error(functions.server_errno(server))
    }

    private func check(_ result: Int32) throws(MulticastError) {
        if result < 0 { throw error(result) }
    }

    private func error(_ code: Int32) -> MulticastError {
        let text = AvahiServerLibrary.text(of: code)
        return Int(code) == AVAHI_ERR_COLLISION ? .collision(text) : .refused(text)
    }

    private func interface(_ index: UInt32?) -> AvahiIfIndex {
        AvahiIfIndex(clamping: index.map { Int($0) } ?? AVAHI_IF_UNSPEC)
    }

    private static func load() -> cavahicore? {
        withUnsafeTemporaryAllocation(of: cavahicore.self, capacity: 1) { functions in
            // Do not read a table that was not filled completely.
            guard let table = functions.baseAddress, cavahicore_load(table) != 0 else { return nil }
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

extension AvahiServerLibrary.Context {
    /// Handles a browser report. The record is valid only during the callback, so its data is
    /// copied in wire form.
    fileprivate func browsed(
        _ event: AvahiBrowserEvent, interface: AvahiIfIndex, transport: AvahiProtocol,
        record: UnsafeMutablePointer<AvahiRecord>?
    ) {
        guard let query else { return }
        let link = RecordLink(
            interface: UInt32(clamping: interface), isIPv6: transport == AvahiProtocol(AVAHI_PROTO_INET6))
        switch event {
        case AVAHI_BROWSER_NEW:
            if let data = data(of: record) { library.queue(.appeared(query, link, data)) }
        case AVAHI_BROWSER_REMOVE:
            if let data = data(of: record) { library.queue(.vanished(query, link, data)) }
        case AVAHI_BROWSER_ALL_FOR_NOW: library.queue(.allForNow(query))
        case AVAHI_BROWSER_FAILURE: library.queue(.browserFailed(query, "the responder ended the browser"))
        default: break
        }
    }

    /// Returns nil for data larger than the accepted maximum.
    private func data(of record: UnsafeMutablePointer<AvahiRecord>?) -> [UInt8]? {
        guard let record, let functions = library.functions else { return nil }
        let data = [UInt8](unsafeUninitializedCapacity: TextData.maxByteCount) { buffer, count in
            let size = functions.rdata_serialize(record, buffer.baseAddress, buffer.count)
            // The function returns (size_t) -1 if the buffer is too small.
            count = (0...buffer.count).contains(size) ? size : 0
        }
        return data.isEmpty ? nil : data
    }

    fileprivate func groupChanged(_ state: AvahiEntryGroupState) {
        switch state {
        case AVAHI_ENTRY_GROUP_ESTABLISHED: library.queue(.groupEstablished(group))
        case AVAHI_ENTRY_GROUP_COLLISION: library.queue(.groupCollided(group))
        case AVAHI_ENTRY_GROUP_FAILURE: library.queue(.groupFailed(group, "the responder ended the group"))
        default: break
        }
    }
}

/// Forwards libavahi-core's messages, which would go to stderr, to this process's log at debug
/// level.
enum AvahiLog {
    /// The library has one log function without a context for the whole process, so all servers
    /// share one logger.
    private static let logger = Locked<Logger?>(nil)

    static func forward(to logger: Logger, _ functions: cavahicore) {
        self.logger.withLock { $0 = logger }
        functions.set_log_function { _, text in
            guard let text, let logger = AvahiLog.logger.withLock({ $0 }) else { return }
            // Messages may quote names from the network.
            logger.debug("Avahi logged a message", ["text": String(cString: text)])
        }
    }
}
