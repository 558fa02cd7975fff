import HandoffModel
import LoopIO

/// Runs the Avahi and embedded discoveries as `AutomaticChoice` decides. It has its own thread, so
/// that it can detect a hanging Avahi. All events of both discoveries pass through it.
final class AutomaticRole: DiscoveryRole {
    enum Command: Sendable {
        case owner(DiscoveryCommand)
        /// An event of one of the two. Each embedded discovery has a number, so that events of a
        /// stopped one are ignored.
        case event(DiscoveryKind, UInt32, DiscoveryEvent)
        /// One of the two has stopped.
        case stopped
    }

    private let loop: DiscoveryLoop
    private let avahi: any Discovery
    private let makeEmbedded: @Sendable () -> any Discovery
    private let logger: Logger
    /// The thread on which this object runs, which receives the events of both discoveries.
    private let thread: DiscoveryThread<Command>
    /// The discovery in use, for other threads.
    private let current: Locked<DiscoveryKind>
    private let onEvent: @Sendable (DiscoveryEvent) -> Void
    private var choice: AutomaticChoice
    private var avahiState = DiscoveryState.starting
    private var services = MergedServices()
    private var embedded: (any Discovery)?
    private var embeddedNumber: UInt32 = 0
    private var publication: Publication?
    private var isMember: (@Sendable (String) -> Bool)?
    private var choiceTimer: DiscoveryTimer?
    private var sweepTimer: DiscoveryTimer?
    private var stopping: (remaining: Int, done: @Sendable () -> Void)?

    init(
        loop: DiscoveryLoop, avahi: any Discovery, embedded: @escaping @Sendable () -> any Discovery, logger: Logger,
        thread: DiscoveryThread<Command>, current: Locked<DiscoveryKind>,
        onEvent: @escaping @Sendable (DiscoveryEvent) -> Void
    ) {
        self.loop = loop
        self.avahi = avahi
        self.makeEmbedded = embedded
        self.logger = logger
        self.thread = thread
        self.current = current
        self.onEvent = onEvent
        choice = AutomaticChoice(at: loop.now)
    }

    func start() {
        choiceTimer = loop.timer { [unowned self] in perform(choice.timePassed(at: loop.now)) }
        sweepTimer = loop.timer { [unowned self] in sweep() }
        avahi.start { [thread] event in thread.send(.event(.avahi, 0, event)) }
    }

    func handle(_ command: Command) {
        switch command {
        case .owner(let command):
            execute(command)
        case .event(let kind, let number, let event):
            guard stopping == nil, kind == .avahi || number == embeddedNumber else { return }
            handle(event, from: kind)
        case .stopped:
            stopping?.remaining -= 1
            endIfStopped()
        }
    }

    func turnEnded() { choiceTimer?.set(stopping == nil ? choice.deadline : nil) }

    func end() {}

    private func execute(_ command: DiscoveryCommand) {
        switch command {
        case .publish(let publication):
            self.publication = publication
            avahi.publish(publication)
            embedded?.publish(publication)
        case .setMembership(let isMember):
            self.isMember = isMember
            avahi.setMembership(isMember)
            embedded?.setMembership(isMember)
        case .refresh(let instance):
            avahi.refresh(instance: instance)
            embedded?.refresh(instance: instance)
        case .stop(let done):
            stopping = (embedded == nil ? 1 : 2, done)
            avahi.stop { [thread] in thread.send(.stopped) }
            embedded?.stop { [thread] in thread.send(.stopped) }
            endIfStopped()
        }
    }

    private func endIfStopped() {
        guard let stopping, stopping.remaining <= 0 else { return }
        loop.finish()
        stopping.done()
    }

    private func handle(_ event: DiscoveryEvent, from kind: DiscoveryKind) {
        switch event {
        case .state(_, let state):
            if kind == .avahi {
                avahiState = state
                perform(choice.avahiChanged(state, at: loop.now))
            }
            guard kind == choice.current else { return }
            current.withLock { $0 = state == .starting ? .none : kind }
            onEvent(event)
        case .service(let service):
            onEvent(.service(services.add(service, from: kind)))
        case .removed(let instance):
            if services.remove(instance, from: kind) { onEvent(event) }
        case .allForNow:
            guard kind == choice.current else { return }
            // Allow time for instances that only the other discovery knew to appear here.
            sweepTimer?.set(loop.now + MulticastDriver.sweepDelay)
            onEvent(event)
        case .conflict:
            onEvent(event)
        case .networkChanged:
            // Both follow the kernel's changes. One report is sufficient.
            if kind == choice.current { onEvent(event) }
        }
    }

    private func perform(_ actions: [AutomaticChoice.Action]) {
        for action in actions {
            // The newly chosen discovery has not reported anything yet.
            sweepTimer?.set(nil)
            switch action {
            case .startEmbedded:
                logger.notice("Discovery continues without avahi-daemon", ["reason": reason])
                start(makeEmbedded())
            case .stopEmbedded:
                logger.notice("Discovery continues with avahi-daemon")
                embedded?.stop {}
                embedded = nil
                embeddedNumber += 1
            }
        }
    }

    private var reason: String {
        switch avahiState {
        case .starting, .running: "avahi-daemon is not responding"
        case .impaired(let reason), .unavailable(let reason): reason
        }
    }

    private func start(_ discovery: any Discovery) {
        embedded = discovery
        embeddedNumber += 1
        if let isMember { discovery.setMembership(isMember) }
        if let publication { discovery.publish(publication) }
        discovery.start { [thread, embeddedNumber] event in thread.send(.event(.embedded, embeddedNumber, event)) }
    }

    /// Removes instances that only the unused implementation knew.
    private func sweep() {
        let unused: DiscoveryKind = choice.current == .avahi ? .embedded : .avahi
        for instance in services.drop(unused) { onEvent(.removed(instance: instance)) }
    }
}
