import FuzzSupport
import HandoffJSON
import HandoffModel
import HandoffProtocol

/// A connection between two devices. The other side sends anything, and the driver follows its instructions.
enum Session {
    /// The second byte is the role. Then follow steps. Invariants: after the first end only
    /// completions follow. Each request is completed exactly once. Only one merge is requested at a
    /// time. No request exceeds its limit of open ones.
    static func play(_ input: inout Input) {
        let choice = input.byte()
        let roles: [SessionRole] = [.client, .server(isLive: true), .server(isLive: false)]
        guard let device = DeviceID(bytes: [UInt8](repeating: 7, count: 32)), let hello = hello(generation: 100) else {
            return
        }
        var driver = Driver(
            machine: PeerSessionMachine(device: device, role: roles[Int(choice) % roles.count], hello: hello))
        driver.perform(driver.machine.connected(statements: choice >= 0x80 ? [1, 2, 3] : nil, at: driver.now))
        for _ in 0..<500 where !input.isEmpty { driver.step(&input) }
        driver.perform(driver.machine.connectionEnded())
        driver.hasEnded = true
        require(driver.open.isEmpty, "a request is never completed")
        require(driver.machine.nextDeadline == nil, "an ended session still waits for an event")
    }

    static func hello(generation: UInt64) -> Hello? {
        Hello(
            software: "fuzz/1", kind: .laptop, port: 24863, label: Label(bytes: [UInt8](repeating: 9, count: 16)),
            generation: generation, seenGeneration: nil, rosterDigest: [UInt8](repeating: 0, count: 8), epoch: nil)
    }

    private struct Driver {
        var machine: PeerSessionMachine
        var budget = MemberRateLimiter()
        var now = MonotonicInstant(nanoseconds: 1_000_000_000_000)
        var open: Set<Int64> = []
        var requests: [Int64] = []
        var isMerging = false
        var hasEnded = false

        init(machine: PeerSessionMachine) { self.machine = machine }

        mutating func step(_ input: inout Input) {
            let step = input.byte()
            let argument = step >> 3
            switch step & 7 {
            case 0, 1, 2:
                // A frame, or bytes that may not be one, which a driver that is instructed not to
                // read keeps in the socket.
                guard machine.wantsInput || hasEnded else { return }
                let bytes = step & 7 == 2 ? input.bytes(Int(argument)) : frame(argument, &input)
                perform(machine.received(bytes, budget: &budget, at: now))
                require(machine.bufferedBytes <= 8192 * 2, "more bytes are kept than received")
            case 3:
                guard isMerging else { return }
                isMerging = false
                let outcome: MergeOutcome = argument < 24 ? .live : argument < 28 ? .notLive : .refused
                perform(machine.merged(outcome, hello: nil, budget: &budget, at: now))
            case 4:
                let timeout: Duration? = argument == 0 ? nil : .milliseconds(Int(argument) * 200)
                let (id, actions) = machine.request("list", [:], timeout: timeout, at: now)
                require(open.insert(id).inserted, "a request number is used twice")
                perform(actions)
            case 5:
                guard !requests.isEmpty else { return }
                let id = requests.remove(at: Int(argument) % requests.count)
                perform(machine.respond(to: id, with: .result([:])))
                require(machine.respond(to: id, with: .result([:])).isEmpty, "a request is answered twice")
            case 6:
                now = now + .milliseconds(Int(argument) * 100)
                perform(machine.deadlinePassed(at: now))
                require(machine.nextDeadline.map { $0 > now } ?? true, "a deadline remains after it has passed")
            default:
                if argument == 31 { return perform(machine.close()) }
                perform(argument & 1 == 0 ? machine.sendHello() : machine.notify("left", [:]))
            }
        }

        mutating func perform(_ actions: [SessionAction]) {
            for action in actions {
                if case .complete(let id, _) = action {
                    require(open.remove(id) != nil, "a request is completed twice")
                    continue
                }
                require(!hasEnded, "an action follows the end")
                switch action {
                case .send(let frame): require(frame.kind != nil, "a frame of an unknown kind is sent")
                case .merge:
                    require(!isMerging, "two merges are requested at the same time")
                    isMerging = true
                case .handle(let request):
                    require(machine.isEstablished || isEnding(actions), "a request of an unknown device is handled")
                    requests.append(request.id)
                    require(Set(requests).count == requests.count, "two requests have the same number")
                case .establish, .renew:
                    require(machine.peerHello != nil, "a hello is reported but not kept")
                case .raiseGeneration(let seen):
                    require(seen > machine.hello.generation, "a start number is raised to a smaller one")
                case .close: hasEnded = true
                case .receiveEpochKey, .note, .complete: break
                }
            }
            if hasEnded {
                isMerging = false
                requests = []
            }
            require(requests.count <= PeerSessionMachine.maxOpenRequests, "more requests are open than allowed")
            require(isMerging == false || !machine.wantsInput, "bytes are read during a merge")
        }

        private func isEnding(_ actions: [SessionAction]) -> Bool {
            actions.contains { if case .close = $0 { true } else { false } }
        }

        /// A frame of any kind, or a whole message, which no mutation would find.
        private func frame(_ kind: UInt8, _ input: inout Input) -> [UInt8] {
            let body: [UInt8]
            let code: UInt8
            switch kind {
            case 0..<8:
                code = FrameKind.hello.rawValue
                body = Session.hello(generation: 1 + UInt64(kind) * 50)?.encoded() ?? []
            case 8..<14:
                code = FrameKind.request.rawValue
                body = PeerRequest(
                    id: Int64(input.byte()), method: kind == 8 ? PeerMethod.openStream : "list", parameters: [:]
                )
                .encoded()
            case 14..<18:
                code = FrameKind.response.rawValue
                body = PeerResponse(id: Int64(input.byte()), outcome: .result([:])).encoded()
            case 18:
                code = FrameKind.notice.rawValue
                body = PeerNotice(method: "left", parameters: [:]).encoded()
            case 19..<23:
                code = FrameKind.statements.rawValue
                body = [kind]
            default:
                code = input.byte()
                body = input.bytes(Int(input.byte()))
            }
            var bytes: [UInt8] = []
            Frame(code: code, body: body).append(to: &bytes)
            return bytes
        }
    }
}
