import CSystemdBus
import Glibc
import HandoffModel
import LoopIO

/// The owner of a connection to a bus. Called on the loop's thread, never inside a call of the
/// connection.
protocol LoopBusDelegate: AnyObject {
    /// There is a new connection on which to follow signals and call methods. Throwing drops it.
    /// The bus has not authenticated the connection yet; messages are queued until it does.
    func busOpened() throws(Errno)
    /// The connection was lost, or none could be made. Its calls and matches have ended.
    ///
    /// - Parameter wasOpen: True if there was a connection.
    func busLost(wasOpen: Bool)
}

/// A connection to a bus, on a loop. Lives on the loop's thread and never blocks.
///
/// Reconnects to a lost bus with increasing delays. If the socket does not exist, its folder is
/// watched instead, so that a machine without a bus never wakes up for it. On each new connection,
/// the owner subscribes to signals and queries state again.
final class LoopBus {
    /// The kind of bus.
    enum Kind {
        /// sd_bus_open_system(3)
        case system
        /// sd_bus_open_user(3)
        case user
    }

    /// The bus's own name, and the name of its interface.
    static let name = "org.freedesktop.DBus"
    /// The delay between the appearance of the socket and connecting: the bus refuses connections
    /// until it listens.
    private static let pauseBeforeListening = Duration.milliseconds(100)
    /// The bus's own object path.
    static let path = "/org/freedesktop/DBus"
    /// The interface for properties.
    static let propertiesInterface = "org.freedesktop.DBus.Properties"

    private let loop: EventLoop
    private let kind: Kind
    /// In microseconds.
    private let timeout: UInt64
    private weak var delegate: (any LoopBusDelegate)?
    private var bus: OpaquePointer?
    private var matches: [BusCall] = []
    private var calls: [ObjectIdentifier: BusCall] = [:]
    private var objects: [BusObject] = []
    private var backoff = Backoff.messageBus
    private var timer: LoopTimer?
    /// Watches for a socket that does not exist yet.
    private var watch: FolderWatch?
    private var isLost = false
    private var isStopped = false

    /// Creates the connection without opening it.
    ///
    /// - Parameter timeout: The maximum time for a reply to a call, in microseconds.
    init(_ kind: Kind, loop: EventLoop, timeout: UInt64) {
        self.kind = kind
        self.loop = loop
        self.timeout = timeout
    }

    deinit {
        disconnect()
    }

    /// Starts connecting to the bus.
    func start(_ delegate: any LoopBusDelegate) {
        self.delegate = delegate
        loop.later { [weak self] in self?.connect() }
    }

    /// Closes the connection. Nothing is reported afterwards. Unsent messages are dropped
    /// (sd_bus_close_unref(3)). A bus that has authenticated the connection and keeps reading has
    /// received everything.
    func stop() {
        isStopped = true
        timer = nil
        watch = nil
        disconnect()
    }

    /// True if there is a connection.
    var isOpen: Bool { bus != nil }

    /// Records a reply: if the connection is lost, the first retry is soon.
    func reached() {
        backoff.reset()
    }

    /// Drops the connection. A new one is made after a delay.
    func lost() {
        guard !isLost else { return }
        isLost = true
        // Deferred, because sd-bus may be in the callback that reported the loss.
        loop.later { [weak self] in
            guard let self, !isStopped else { return }
            let wasOpen = isOpen
            disconnect()
            if !waitForSocket() {
                let wait = backoff.next()
                timer = loop.timer(after: wait, accuracy: .seconds(1)) { [weak self] in self?.connect() }
            }
            delegate?.busLost(wasOpen: wasOpen)
        }
    }

    /// Calls `connect` when the socket appears.
    /// - Returns: False if the socket exists, or if its folder cannot be watched.
    private func waitForSocket() -> Bool {
        guard let place = BusAddress(kind), !place.exists else { return false }
        do throws(Errno) {
            let watch = try FolderWatch(on: loop) { [weak self] in self?.folderChanged(place) }
            // Repeated, because a folder removed before the watch was set is not reported.
            var folders = place.folders
            while watch.setFolders(folders), place.folders != folders { folders = place.folders }
            // Nor is a socket created before that.
            guard !place.exists else { return false }
            self.watch = watch
            return true
        } catch {
            return false
        }
    }

    private func folderChanged(_ place: BusAddress) {
        guard watch != nil else { return }
        // Deferred, because the watch must not be released in its own callback.
        loop.later { [weak self] in
            guard let self, watch != nil else { return }
            watch = nil
            // A parent folder or the socket has appeared. For a moment the bus may not listen on it
            // yet, or no longer.
            if place.exists || !waitForSocket() {
                timer = loop.timer(after: Self.pauseBeforeListening, accuracy: .seconds(1)) { [weak self] in
                    self?.connect()
                }
            }
        }
    }

    private func connect() {
        guard bus == nil, !isStopped else { return }
        isLost = false
        watch = nil
        do throws(Errno) {
            var bus: OpaquePointer?
            // Connects without blocking. Messages are queued until the bus has authenticated the
            // connection.
            switch kind {
            case .system: try Errno.check(sd_bus_open_system(&bus))
            case .user: try Errno.check(sd_bus_open_user(&bus))
            }
            self.bus = bus
            try Errno.check(sd_bus_set_method_call_timeout(bus, timeout))
            try Errno.check(sd_bus_attach_event(bus, loop.event, 0))
            try follow("sender='\(Self.name).Local',member='Disconnected'") { [weak self] _ in self?.lost() }
            try delegate?.busOpened()
        } catch {
            lost()
        }
    }

    private func disconnect() {
        for call in matches { call.cancel() }
        for call in calls.values { call.cancel() }
        matches = []
        calls = [:]
        objects = []
        guard let bus else { return }
        self.bus = nil
        sd_bus_detach_event(bus)
        sd_bus_close_unref(bus)
    }

    // MARK: - Sending

    /// Follows signals until the connection ends.
    ///
    /// - Parameters:
    ///   - rule: The match rule (sd_bus_add_match(3)), without `type`.
    ///   - handler: Receives each signal, which is valid during the call.
    /// - Throws: The error if the rule cannot be added.
    func follow(_ rule: String, _ handler: @escaping (OpaquePointer) -> Void) throws(Errno) {
        let match = BusCall(of: nil) { message in
            if let message { handler(message) }
        }
        // Unretained: `matches` keeps the match, which unregisters its callback in its
        // deinitializer.
        let context = Unmanaged.passUnretained(match).toOpaque()
        try Errno.check(
            sd_bus_add_match_async(bus, &match.slot, "type='signal',\(rule)", busDidReply, nil, context))
        matches.append(match)
    }

    /// Calls a method.
    ///
    /// - Parameters:
    ///   - startsService: If true, the bus may start the service.
    ///   - fill: Writes the arguments.
    ///   - then: Called once, unless the connection ends first. Receives the reply, which is valid
    ///     during the call, or nil for an error.
    /// - Throws: The error if the call cannot be sent. `then` is not called in that case.
    func call(
        _ service: String, _ path: String, _ interface: String, _ member: String, startsService: Bool = true,
        _ fill: (inout BusMessage) -> Void = { _ in }, then: @escaping (OpaquePointer?) -> Void
    ) throws(Errno) {
        let pointer = try message(service, path, interface, member, fill)
        defer { sd_bus_message_unref(pointer) }
        if !startsService { sd_bus_message_set_auto_start(pointer, 0) }
        let call = BusCall(of: self, then)
        // Unretained: `calls` keeps the call, which unregisters its callback in its deinitializer.
        let context = Unmanaged.passUnretained(call).toOpaque()
        try Errno.check(sd_bus_call_async(bus, &call.slot, pointer, busDidReply, context, 0))
        calls[ObjectIdentifier(call)] = call
    }

    /// Removes a call whose reply was delivered.
    func ended(_ call: BusCall) {
        calls[ObjectIdentifier(call)] = nil
    }

    /// Calls a method without waiting for a reply and without starting the service.
    ///
    /// - Parameter fill: Writes the arguments.
    /// - Throws: The error if the call cannot be sent.
    func send(
        _ service: String, _ path: String, _ interface: String, _ member: String, _ fill: (inout BusMessage) -> Void
    ) throws(Errno) {
        let pointer = try message(service, path, interface, member, fill)
        defer { sd_bus_message_unref(pointer) }
        sd_bus_message_set_auto_start(pointer, 0)
        sd_bus_message_set_expect_reply(pointer, 0)
        try Errno.check(sd_bus_send(bus, pointer, nil))
    }

    /// Serves calls of an object until the connection ends.
    ///
    /// - Throws: The error if the object cannot be added.
    func serve(_ path: String, _ handler: @escaping BusObject.Handler) throws(Errno) {
        let object = BusObject(handler)
        // Unretained: `objects` keeps the object, which unregisters its callback in its
        // deinitializer.
        let context = Unmanaged.passUnretained(object).toOpaque()
        try Errno.check(sd_bus_add_object(bus, &object.slot, path, busDidCall, context))
        objects.append(object)
    }

    /// Sends a signal of an object to the programs that follow it.
    ///
    /// - Parameter fill: Writes the arguments.
    /// - Throws: The error if the signal cannot be sent.
    func emit(
        _ path: String, _ interface: String, _ member: String, _ fill: (inout BusMessage) -> Void = { _ in }
    ) throws(Errno) {
        guard let bus else { throw Errno(rawValue: ENOTCONN) }
        var pointer: OpaquePointer?
        try Errno.check(sd_bus_message_new_signal(bus, &pointer, path, interface, member))
        let signal = try filled(pointer, fill)
        defer { sd_bus_message_unref(signal) }
        try Errno.check(sd_bus_send(bus, signal, nil))
    }

    /// - Returns: A call that the caller must release.
    private func message(
        _ service: String, _ path: String, _ interface: String, _ member: String, _ fill: (inout BusMessage) -> Void
    ) throws(Errno) -> OpaquePointer {
        guard let bus else { throw Errno(rawValue: ENOTCONN) }
        var pointer: OpaquePointer?
        try Errno.check(sd_bus_message_new_method_call(bus, &pointer, service, path, interface, member))
        return try filled(pointer, fill)
    }

    /// Writes the content of a new message.
    /// - Returns: The message, which the caller must release.
    private func filled(
        _ pointer: OpaquePointer?, _ fill: (inout BusMessage) -> Void
    ) throws(Errno) -> OpaquePointer {
        guard let pointer else { throw Errno(rawValue: ENOMEM) }
        var message = BusMessage(pointer)
        fill(&message)
        guard message.result >= 0 else {
            sd_bus_message_unref(pointer)
            throw Errno(rawValue: 0 &- message.result)
        }
        return pointer
    }
}
