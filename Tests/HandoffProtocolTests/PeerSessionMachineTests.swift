import HandoffJSON
import HandoffModel
import HandoffProtocol
import Testing

@Suite struct PeerSessionMachineTests {
    /// A machine and the rate limits of its device.
    private struct Rig {
        var machine: PeerSessionMachine
        var budget = MemberRateLimiter()

        init(_ role: SessionRole, hello: Hello? = nil) throws {
            machine = PeerSessionMachine(
                device: try Samples.device(1), role: role, hello: try hello ?? Samples.hello())
        }

        mutating func receive(_ frames: Frame..., at: UInt64 = 0) throws -> [SessionAction] {
            let bytes = frames.flatMap(\.bytes)
            return machine.received(bytes, budget: &budget, at: Samples.at(at))
        }

        mutating func merged(isLive: Bool, hello: Hello? = nil, at: UInt64 = 0) -> [SessionAction] {
            machine.merged(isLive ? .live : .notLive, hello: hello, budget: &budget, at: Samples.at(at))
        }

        /// Returns a session in which both sides have sent their hello.
        static func established(_ role: SessionRole = .client) throws -> Rig {
            var rig = try Rig(role)
            _ = rig.machine.connected(at: Samples.at(0))
            _ = try rig.receive(Frame(.hello, try Samples.hello().encoded()))
            try #require(rig.machine.isEstablished)
            return rig
        }
    }

    private static func helloFrame(
        seenGeneration: UInt64? = nil, digest: UInt8 = 0, epoch: UInt8? = 1
    ) throws -> Frame {
        Frame(.hello, try Samples.hello(seenGeneration: seenGeneration, digest: digest, epoch: epoch).encoded())
    }

    private static func request(_ id: Int64, _ method: String = "activities") -> Frame {
        Frame(.request, PeerRequest(id: id, method: method, parameters: [:]).encoded())
    }

    private static func response(_ id: Int64) -> Frame {
        Frame(.response, PeerResponse(id: id, outcome: .result([:])).encoded())
    }

    @Test func `a client sends everything that it may send first`() throws {
        var rig = try Rig(.client)
        let (id, waiting) = rig.machine.request("activities", [:], timeout: nil, at: Samples.at(0))
        #expect(id == 1 && waiting == [])
        let actions = rig.machine.connected(statements: [7], at: Samples.at(0))
        #expect(
            actions == [
                .send(Frame(.statements, [7])), .send(Frame(.hello, try Samples.hello().encoded())),
                .send(Self.request(1)),
            ])
        let (_, next) = rig.machine.request("activities", [:], timeout: nil, at: Samples.at(1))
        #expect(next == [.send(Self.request(2))])
        #expect(!rig.machine.isEstablished)
    }

    @Test(arguments: FrameKind.allCases.filter { $0 != .hello })
    func `a client accepts nothing before the hello`(kind: FrameKind) throws {
        var rig = try Rig(.client)
        _ = rig.machine.connected(at: Samples.at(0))
        let (id, _) = rig.machine.request("activities", [:], timeout: nil, at: Samples.at(0))
        let actions = try rig.receive(Frame(kind, Array("{}".utf8)))
        #expect(
            actions == [.close(.framing(.notAllowed(code: kind.rawValue))), .complete(id: id, .lost)])
    }

    @Test func `the server's hello establishes the session`() throws {
        var rig = try Rig(.client)
        _ = rig.machine.connected(at: Samples.at(0))
        #expect(try rig.receive(Self.helloFrame()) == [.establish(try Samples.hello())])
        #expect(rig.machine.isEstablished && rig.machine.isIdle)
        #expect(rig.machine.nextDeadline == nil)
    }

    @Test func `a server answers the hello and continues to read`() throws {
        var rig = try Rig(.server(isLive: true))
        #expect(rig.machine.connected(at: Samples.at(0)) == [])
        let actions = try rig.receive(Self.helloFrame(), Self.request(1, "activities"))
        #expect(
            actions == [
                .send(try Self.helloFrame()), .establish(try Samples.hello()),
                .handle(PeerRequest(id: 1, method: "activities", parameters: [:])),
            ])
        #expect(rig.machine.respond(to: 1, with: .result([:])) == [.send(Self.response(1))])
        #expect(rig.machine.respond(to: 1, with: .result([:])) == [])
    }

    @Test func `statements before the hello are merged first`() throws {
        var rig = try Rig(.server(isLive: true))
        _ = rig.machine.connected(at: Samples.at(0))
        let actions = try rig.receive(Frame(.statements, [1, 2]), Self.helloFrame(digest: 5), Self.request(1))
        #expect(actions == [.merge([1, 2], after: .zero)])
        #expect(!rig.machine.wantsInput)
        let more = rig.merged(isLive: true, hello: try Samples.hello(digest: 5))
        #expect(
            more == [
                .send(Frame(.hello, try Samples.hello(digest: 5).encoded())),
                .establish(try Samples.hello(digest: 5)),
                .handle(PeerRequest(id: 1, method: "activities", parameters: [:])),
            ])
    }

    @Test(arguments: [SessionRole.client, .server(isLive: true)])
    func `changes during connection setup are sent`(role: SessionRole) throws {
        var rig = try Rig(role)
        let present = try Samples.hello(seq: 7, label: 3, digest: 5, epoch: 2)
        rig.machine.hello = present
        let said = rig.machine.connected(at: Samples.at(0)) + (try rig.receive(Self.helloFrame()))
        #expect(said.contains(.send(Frame(.hello, present.encoded()))))
    }

    @Test(arguments: FrameKind.allCases.filter { $0 != .statements })
    func `an unknown device may send only statements`(kind: FrameKind) throws {
        var rig = try Rig(.server(isLive: false))
        _ = rig.machine.connected(at: Samples.at(0))
        #expect(
            try rig.receive(Frame(kind, Array("{}".utf8)))
                == [.close(.framing(.notAllowed(code: kind.rawValue)))])
    }

    @Test func `an unknown device becomes live by its statements`() throws {
        var rig = try Rig(.server(isLive: false))
        _ = rig.machine.connected(at: Samples.at(0))
        #expect(try rig.receive(Frame(.statements, [1]), Self.helloFrame()) == [.merge([1], after: .zero)])
        #expect(rig.merged(isLive: true).first == .send(try Self.helloFrame()))
        #expect(rig.machine.isEstablished)
    }

    @Test func `an unknown device whose statements prove nothing is disconnected`() throws {
        var rig = try Rig(.server(isLive: false))
        _ = rig.machine.connected(at: Samples.at(0))
        _ = try rig.receive(Frame(.statements, [1]), Self.helloFrame(), Self.request(1))
        #expect(rig.merged(isLive: false) == [.close(.notLive)])
        #expect(try rig.receive(Self.request(2)) == [])
    }

    @Test func `long statements of an unknown device are rejected by their length`() throws {
        var rig = try Rig(.server(isLive: false))
        _ = rig.machine.connected(at: Samples.at(0))
        let actions = rig.machine.received([0, 8, 0, 2], budget: &rig.budget, at: Samples.at(0))
        #expect(actions == [.close(.framing(.tooLong(length: 0x80002)))])
    }

    @Test(arguments: FrameKind.allCases.filter { $0 != .statements && $0 != .hello })
    func `a live client must send its hello first`(kind: FrameKind) throws {
        var rig = try Rig(.server(isLive: true))
        _ = rig.machine.connected(at: Samples.at(0))
        #expect(
            try rig.receive(Frame(kind, Array("{}".utf8)))
                == [.close(.framing(.notAllowed(code: kind.rawValue)))])
    }

    @Test(arguments: [SessionRole.client, .server(isLive: true)])
    func `a later hello replaces the previous one`(role: SessionRole) throws {
        var rig = try Rig.established(role)
        let present = try Samples.hello(seq: 7, label: 3, digest: 5, epoch: nil)
        #expect(try rig.receive(Frame(.hello, present.encoded())) == [.renew(present)])
        #expect(rig.machine.peerHello == present)
        rig.machine.hello = present
        #expect(rig.machine.sendHello() == [.send(Frame(.hello, present.encoded()))])
    }

    @Test func `endless hellos are dropped and then end the session`() throws {
        var rig = try Rig.established()
        for _ in 0..<20 { #expect(try rig.receive(Self.helloFrame()).count == 1) }
        for _ in 20..<200 { #expect(try rig.receive(Self.helloFrame()) == []) }
        #expect(try rig.receive(Self.helloFrame()) == [.close(.flooding)])
    }

    @Test func `a malformed hello ends the session`() throws {
        var rig = try Rig(.client)
        _ = rig.machine.connected(at: Samples.at(0))
        #expect(try rig.receive(Frame(.hello, [])).count == 1)
        #expect(!rig.machine.isEstablished)
    }

    @Test(
        arguments: [
            (seen: nil, own: 100, raised: false), (100, 100, false), (99, 100, false), (101, 100, true),
            (Position.maxGeneration / 2, 100, false), (Position.maxGeneration, 100, false),
        ] as [(UInt64?, UInt64, Bool)])
    func `a greater generation of this device is adopted`(seen: UInt64?, own: UInt64, raised: Bool) throws {
        var rig = try Rig(.client, hello: try Samples.hello(generation: own))
        _ = rig.machine.connected(at: Samples.at(0))
        let actions = try rig.receive(Self.helloFrame(seenGeneration: seen))
        #expect(actions.contains(.raiseGeneration(above: seen ?? 0)) == raised)
    }

    @Test func `statements and keys are delivered in order`() throws {
        var rig = try Rig.established(.server(isLive: true))
        #expect(try rig.receive(Frame(.statements, [1]), Frame(.epochKey, [2])) == [.merge([1], after: .zero)])
        #expect(rig.machine.isEstablished && !rig.machine.wantsInput)
        #expect(rig.merged(isLive: true) == [.receiveEpochKey([2])])
        #expect(rig.machine.sendStatements([3]) == [.send(Frame(.statements, [3]))])
        #expect(rig.machine.sendEpochKey([1]) == [.send(Frame(.epochKey, [1]))])
    }

    @Test func `excess statements wait and are not dropped`() throws {
        var rig = try Rig.established()
        var delays: [Duration] = []
        for number in UInt8(0)..<25 {
            for case .merge(let statements, let delay) in try rig.receive(Frame(.statements, [number])) {
                #expect(statements == [number])
                delays.append(delay)
                #expect(rig.merged(isLive: true) == [])
            }
        }
        #expect(delays.prefix(16) == [Duration](repeating: .zero, count: 16)[...])
        #expect(delays.dropFirst(16) == (1...9).map { .milliseconds(250 * $0) }[...])
    }

    @Test func `a member with invalid statements is distinguished from an unknown device`() throws {
        var rig = try Rig.established()
        _ = try rig.receive(Frame(.statements, [1]))
        let end = rig.machine.merged(.refused, hello: nil, budget: &rig.budget, at: Samples.at(0))
        #expect(end == [.close(.badStatements)])
    }

    @Test func `a device removed by a merge is disconnected immediately`() throws {
        var rig = try Rig.established()
        let (id, _) = rig.machine.request("activities", [:], timeout: nil, at: Samples.at(0))
        _ = try rig.receive(Frame(.statements, [1]), Self.response(id))
        #expect(rig.merged(isLive: false) == [.close(.notLive), .complete(id: id, .lost)])
    }

    @Test func `a merge that ends after the connection has no effect`() throws {
        var rig = try Rig.established()
        _ = try rig.receive(Frame(.statements, [1]))
        #expect(rig.machine.connectionEnded() == [])
        #expect(rig.merged(isLive: true) == [])
    }

    @Test func `responses match their requests in any order`() throws {
        var rig = try Rig.established()
        let (first, _) = rig.machine.request("a", [:], timeout: nil, at: Samples.at(0))
        let (second, _) = rig.machine.request("b", [:], timeout: nil, at: Samples.at(0))
        #expect(!rig.machine.isIdle)
        #expect(
            try rig.receive(Self.response(second), Self.response(first)) == [
                .complete(id: second, .answered(.result([:]))), .complete(id: first, .answered(.result([:]))),
            ])
        #expect(rig.machine.isIdle)
        #expect(try rig.receive(Self.response(first)) == [])
        #expect(try rig.receive(Self.response(3)) == [.close(.wrongID(3))])
    }

    @Test func `an unanswered request ends at its deadline and a late response is ignored`() throws {
        var rig = try Rig.established()
        let (id, _) = rig.machine.request("a", [:], timeout: .seconds(3), at: Samples.at(0))
        #expect(rig.machine.nextDeadline == Samples.at(3000))
        #expect(rig.machine.deadlinePassed(at: Samples.at(2999)) == [])
        #expect(rig.machine.deadlinePassed(at: Samples.at(3000)) == [.complete(id: id, .timedOut)])
        #expect(try rig.receive(Self.response(id), at: 3001) == [])
        #expect(rig.machine.isEstablished)
    }

    @Test func `every request completes exactly once when the connection ends`() throws {
        var rig = try Rig.established()
        let (first, _) = rig.machine.request("a", [:], timeout: .seconds(1), at: Samples.at(0))
        let (second, _) = rig.machine.request("b", [:], timeout: nil, at: Samples.at(0))
        #expect(rig.machine.connectionEnded() == [.complete(id: first, .lost), .complete(id: second, .lost)])
        #expect(rig.machine.connectionEnded() == [])
        #expect(rig.machine.close() == [])
        let (third, actions) = rig.machine.request("c", [:], timeout: nil, at: Samples.at(0))
        #expect(actions == [.complete(id: third, .lost)])
        #expect(rig.machine.nextDeadline == nil)
    }

    @Test(arguments: [1, 0, -1] as [Int64]) func `an id that does not increase ends the session`(second: Int64) throws {
        var rig = try Rig.established()
        _ = try rig.receive(Self.request(1))
        let actions = try rig.receive(Self.request(second))
        #expect(actions == [.close(second < 1 ? .message(.field("id")) : .wrongID(second))])
    }

    @Test func `too many requests are dropped and ten times as many end the session`() throws {
        var rig = try Rig.established()
        var actions: [SessionAction] = []
        for id in Int64(1)...20 { actions += try rig.receive(Self.request(id)) }
        #expect(actions.count == 20)
        for id in Int64(21)...200 { #expect(try rig.receive(Self.request(id)) == []) }
        #expect(try rig.receive(Self.request(201)) == [.close(.flooding)])
    }

    @Test func `requests for streams are counted separately`() throws {
        var rig = try Rig.established()
        for id in Int64(1)...500 {
            #expect(try rig.receive(Self.request(id, "openStream")).count == 1)
            _ = rig.machine.respond(to: id, with: .result([:]))
        }
        // The budget for other requests is unused.
        for id in Int64(501)...520 {
            #expect(try rig.receive(Self.request(id)).count == 1)
            _ = rig.machine.respond(to: id, with: .result([:]))
        }
        #expect(try rig.receive(Self.request(521)) == [])
        #expect(try rig.receive(Self.request(522, "openStream")).count == 1)
    }

    @Test func `a request that only resembles a stream request is counted twice`() throws {
        var rig = try Rig.established()
        func pretended(_ id: Int64) -> Frame {
            Frame(
                .request, PeerRequest(id: id, method: "activities", parameters: ["a": .string("openStream")]).encoded())
        }
        for id in Int64(1)...20 { #expect(try rig.receive(pretended(id)).count == 1) }
        for id in Int64(21)...200 { #expect(try rig.receive(pretended(id)) == []) }
        #expect(try rig.receive(pretended(201)) == [.close(.flooding)])
    }

    @Test func `a long stream request is counted like any other request`() throws {
        var rig = try Rig.established()
        func long(_ id: Int64) -> Frame {
            let filler = JSON.string(String(repeating: "x", count: 600))
            return Frame(.request, PeerRequest(id: id, method: "openStream", parameters: ["a": filler]).encoded())
        }
        for id in Int64(1)...20 { #expect(try rig.receive(long(id)).count == 1) }
        #expect(try rig.receive(long(21)) == [])
    }

    @Test func `requests above the limit are not parsed`() throws {
        var rig = try Rig.established()
        for id in Int64(1)...20 { _ = try rig.receive(Self.request(id)) }
        // If these were parsed, each would end the session.
        for kind in [FrameKind.request, .response, .notice] {
            #expect(try rig.receive(Frame(kind, [0x7B])) == [])
        }
    }

    @Test func `endless account keys are dropped and then end the session`() throws {
        var rig = try Rig.established()
        var actions: [SessionAction] = []
        for _ in 0..<50 { actions += try rig.receive(Frame(.epochKey, [1])) }
        #expect(actions == [SessionAction](repeating: .receiveEpochKey([1]), count: 5))
        #expect(try rig.receive(Frame(.epochKey, [1])) == [.close(.flooding)])
    }

    @Test func `an unknown device is introducing until it is live`() throws {
        var rig = try Rig(.server(isLive: false))
        #expect(rig.machine.isIntroducing)
        _ = rig.machine.connected(at: Samples.at(0))
        _ = try rig.receive(Frame(.statements, [1]))
        #expect(rig.machine.isIntroducing)
        _ = rig.merged(isLive: true)
        #expect(!rig.machine.isIntroducing)
        var member = try Rig(.server(isLive: true))
        _ = member.machine.connected(at: Samples.at(0))
        #expect(!member.machine.isIntroducing)
    }

    @Test func `too many open requests end the session`() throws {
        var rig = try Rig.established()
        for id in Int64(1)...32 { _ = try rig.receive(Self.request(id), at: UInt64(id) * 100) }
        #expect(try rig.receive(Self.request(33), at: 3300) == [.close(.flooding)])
    }

    @Test func `kinds of later versions are ignored`() throws {
        var rig = try Rig.established()
        #expect(try rig.receive(Frame(code: 99, body: [1, 2, 3]), Self.request(1)).count == 1)
    }

    @Test func `notices are delivered and sent`() throws {
        var rig = try Rig.established()
        let notice = PeerNotice(method: "wasContinued", parameters: ["activity": "00"])
        #expect(try rig.receive(Frame(.notice, notice.encoded())) == [.note(notice)])
        #expect(
            rig.machine.notify("wasContinued", ["activity": "00"]) == [.send(Frame(.notice, notice.encoded()))])
    }

    @Test func `a silent peer is disconnected`() throws {
        var stranger = try Rig(.server(isLive: false))
        _ = stranger.machine.connected(at: Samples.at(0))
        #expect(stranger.machine.nextDeadline == Samples.at(1000))
        _ = stranger.machine.received([0], budget: &stranger.budget, at: Samples.at(900))
        #expect(stranger.machine.deadlinePassed(at: Samples.at(1999)) == [])
        #expect(stranger.machine.deadlinePassed(at: Samples.at(2000)) == [.close(.late)])

        var live = try Rig(.server(isLive: true))
        _ = live.machine.connected(at: Samples.at(0))
        #expect(live.machine.nextDeadline == Samples.at(1000))
        _ = live.machine.received([0], budget: &live.budget, at: Samples.at(900))
        #expect(live.machine.nextDeadline == Samples.at(5000))

        var client = try Rig(.client)
        _ = client.machine.connected(at: Samples.at(0))
        #expect(client.machine.deadlinePassed(at: Samples.at(5000)) == [.close(.late)])
    }

    @Test func `nothing is sent to a device that was not accepted`() throws {
        for role in [SessionRole.server(isLive: true), .server(isLive: false)] {
            var rig = try Rig(role)
            _ = rig.machine.connected(at: Samples.at(0))
            #expect(rig.machine.notify("wasContinued", [:]) == [])
            #expect(rig.machine.sendStatements([1]) == [])
            #expect(rig.machine.sendEpochKey([1]) == [])
            #expect(rig.machine.sendHello() == [])
            #expect(rig.machine.respond(to: 1, with: .result([:])) == [])
            let (_, actions) = rig.machine.request("activities", [:], timeout: nil, at: Samples.at(0))
            #expect(actions == [])
        }
    }

    @Test func `a server's request waits for the hello`() throws {
        var rig = try Rig(.server(isLive: true))
        _ = rig.machine.connected(at: Samples.at(0))
        _ = rig.machine.request("activities", [:], timeout: nil, at: Samples.at(0))
        #expect(try rig.receive(Self.helloFrame()).last == .send(Self.request(1)))
    }

    @Test func `input one byte at a time gives the same result`() throws {
        var whole = try Rig(.server(isLive: true))
        var slow = try Rig(.server(isLive: true))
        _ = whole.machine.connected(at: Samples.at(0))
        _ = slow.machine.connected(at: Samples.at(0))
        let frames = [try Self.helloFrame(), Self.request(1), Frame(code: 77, body: [1]), Self.request(2)]
        let bytes = frames.flatMap(\.bytes)
        let expected = whole.machine.received(bytes, budget: &whole.budget, at: Samples.at(0))
        var found: [SessionAction] = []
        for byte in bytes { found += slow.machine.received([byte], budget: &slow.budget, at: Samples.at(0)) }
        #expect(found == expected && expected.count == 4)
    }

    @Test(arguments: 1...200 as ClosedRange<UInt64>) func `random bytes never trap`(seed: UInt64) throws {
        var random = FixedRandom(state: seed)
        var rig = try Rig.established()
        for _ in 0..<20 {
            let kind = UInt8.random(in: 1...8, using: &random)
            let body = (0..<Int.random(in: 0...40, using: &random)).map { _ in
                UInt8.random(in: 32...126, using: &random)
            }
            for case .merge in try rig.receive(Frame(code: kind, body: body)) { _ = rig.merged(isLive: true) }
        }
    }
}
