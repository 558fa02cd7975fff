import HandoffJSON
import HandoffModel
import HandoffProtocol
import Testing

@Suite struct GreaseTests {
    /// A generator that always returns the same number.
    private struct Constant: RandomNumberGenerator {
        let number: UInt64
        func next() -> UInt64 { number }
    }

    private func grease(_ number: UInt64) throws -> Grease {
        var random = Constant(number: number << 56)
        return try #require(Grease.Rate.always.draw(using: &random))
    }

    @Test func `reserved values are sent never, always or rarely`() {
        var random = SystemRandomNumberGenerator()
        let draws = { (rate: Grease.Rate) in (0..<16_000).count { _ in rate.draw(using: &random) != nil } }
        #expect(draws(.never) == 0)
        #expect(draws(.always) == 16_000)
        // A thousand plus or minus six standard deviations.
        #expect((816...1184).contains(draws(.rarely)))
    }

    @Test(arguments: [0, 1, 2, 3, 15, 16, 255] as [UInt64])
    func `reserved members do not change a message`(number: UInt64) throws {
        let grease = try grease(number)
        let device = try Samples.device(1)
        let hello = try Samples.hello()
        let greased = hello.encoded(grease)
        #expect(greased != hello.encoded())
        #expect(try Hello(decoding: greased, from: device) == hello)
        let request = PeerRequest(id: 3, method: "activities", parameters: ["a": 1])
        #expect(try PeerRequest(decoding: request.encoded(grease)) == request)
        #expect(request.encoded(grease) != request.encoded())
        let failure = HandoffFailure(code: 4608, reason: "paused", message: "m")
        for outcome in [PeerResponse.Outcome.result(["b": 2]), .failure(failure)] {
            let response = PeerResponse(id: 3, outcome: outcome)
            #expect(try PeerResponse(decoding: response.encoded(grease)) == response)
            #expect(response.encoded(grease) != response.encoded())
        }
        let notice = PeerNotice(method: "wasContinued", parameters: [:])
        #expect(try PeerNotice(decoding: notice.encoded(grease)) == notice)
        #expect(notice.encoded(grease) != notice.encoded())
    }

    @Test(arguments: [0, 7, 240, 255] as [UInt64])
    func `reserved frames, capabilities and strings are within the documented limits`(number: UInt64) throws {
        let grease = try grease(number)
        #expect(grease.frame.kind == nil && grease.frame.code >= 240 && grease.frame.body.count < 16)
        #expect(grease.name.hasPrefix("grease") && grease.name.utf8.count == 8)
        #expect(grease.string.count == 7 && grease.string.starts(with: Array("grease".utf8)))
    }

    @Test func `reserved flags do not change an announcement`() throws {
        var announcement = try Samples.announcement(1)
        let plain = announcement.encode(capacity: 588)
        announcement.isGreased = true
        let greased = announcement.encode(capacity: 588)
        #expect(greased[47] == plain[47] | 0x80)
        #expect(zip(plain, greased).count { $0 != $1 } == 1 + announcement.activities.count)
        announcement.isGreased = false
        #expect(try Announcement(decoding: greased) == announcement)
    }

    @Test func `two sides that send reserved values understand each other`() throws {
        let grease = try grease(200)
        var (client, server) = (
            PeerSessionMachine(
                device: try Samples.device(1), role: .client, hello: try Samples.hello(), grease: grease),
            PeerSessionMachine(
                device: try Samples.device(2), role: .server(isLive: true), hello: try Samples.hello(), grease: grease)
        )
        var (clientBudget, serverBudget) = (MemberRateLimiter(), MemberRateLimiter())
        let now = Samples.at(0)
        _ = server.connected(at: now)
        let (_, waiting) = client.request("activities", [:], timeout: nil, at: now)
        #expect(waiting == [])
        let first = Self.frames(client.connected(at: now))
        let atServer = server.received(first.flatMap(\.bytes), budget: &serverBudget, at: now)
        #expect(Self.frames(atServer).map(\.code) == [2, grease.frame.code])
        #expect(atServer.contains { if case .handle = $0 { true } else { false } })
        let answer = Self.frames(atServer + server.respond(to: 1, with: .result([:])))
        let atClient = client.received(answer.flatMap(\.bytes), budget: &clientBudget, at: now)
        #expect(Self.frames(atClient) == [grease.frame])
        #expect(atClient.contains(.complete(id: 1, .answered(.result([:])))))
        #expect(server.received(grease.frame.bytes, budget: &serverBudget, at: now) == [])
        #expect(client.isEstablished && server.isEstablished)
    }

    private static func frames(_ actions: [SessionAction]) -> [Frame] {
        actions.compactMap { if case .send(let frame) = $0 { frame } else { nil } }
    }
}
