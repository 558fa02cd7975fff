import HandoffDiscovery
import HandoffModel
import LoopIO
import Testing

struct AutomaticChoiceTests {
    private static let start = MonotonicInstant(nanoseconds: 1_000_000_000_000)
    private static let gone = DiscoveryState.unavailable("gone")

    @Test func `uses avahi if it runs`() {
        var choice = AutomaticChoice(at: Self.start)
        let actions = [
            choice.avahiChanged(.starting, at: Self.start), choice.avahiChanged(.running, at: Self.start),
            choice.timePassed(at: Self.start + .seconds(60)),
        ]
        #expect(actions == [[], [], []])
        #expect(choice.current == .avahi)
        #expect(choice.deadline == nil)
    }

    @Test func `starts embedded immediately without avahi`() {
        var choice = AutomaticChoice(at: Self.start)
        let actions = [
            choice.avahiChanged(Self.gone, at: Self.start), choice.avahiChanged(Self.gone, at: Self.start),
            choice.timePassed(at: Self.start + .seconds(60)),
        ]
        #expect(actions == [[.startEmbedded], [], []])
        #expect(choice.current == .embedded)
    }

    @Test func `starts embedded if avahi hangs from the start`() {
        var choice = AutomaticChoice(at: Self.start)
        #expect(choice.deadline == Self.start + AutomaticChoice.timeout)
        let actions = [
            choice.timePassed(at: Self.start + .milliseconds(9999)), choice.timePassed(at: Self.start + .seconds(10)),
        ]
        #expect(actions == [[], [.startEmbedded]])
    }

    @Test func `uses embedded immediately if avahi announces nothing, until it does`() {
        let impaired = DiscoveryState.impaired("not permitted")
        for before in [[], [.running], [.running, Self.gone]] as [[DiscoveryState]] {
            var choice = AutomaticChoice(at: Self.start)
            for state in before { _ = choice.avahiChanged(state, at: Self.start) }
            #expect(choice.avahiChanged(impaired, at: Self.start) == [.startEmbedded])
            #expect(choice.avahiChanged(Self.gone, at: Self.start) == [])
            #expect(choice.avahiChanged(impaired, at: Self.start) == [])
            #expect(choice.current == .embedded && choice.deadline == nil)
            #expect(choice.avahiChanged(.running, at: Self.start) == [.stopEmbedded])
        }
    }

    @Test func `waits for a restart of avahi`() {
        var choice = AutomaticChoice(at: Self.start)
        _ = choice.avahiChanged(.running, at: Self.start)
        var actions = choice.avahiChanged(Self.gone, at: Self.start + .seconds(100))
        actions += choice.avahiChanged(Self.gone, at: Self.start + .seconds(105))
        #expect(choice.deadline == Self.start + .seconds(110))
        actions += choice.timePassed(at: Self.start + .seconds(109))
        actions += choice.avahiChanged(.running, at: Self.start + .seconds(109))
        #expect(actions == [])
        #expect(choice.current == .avahi)
        #expect(choice.deadline == nil)
    }

    @Test func `starts embedded if avahi does not return`() {
        var choice = AutomaticChoice(at: Self.start)
        _ = choice.avahiChanged(.running, at: Self.start)
        _ = choice.avahiChanged(Self.gone, at: Self.start)
        let actions = choice.timePassed(at: Self.start + .seconds(10))
        #expect(actions == [.startEmbedded])
    }

    @Test func `stops embedded immediately when avahi starts`() {
        var choice = AutomaticChoice(at: Self.start)
        _ = choice.avahiChanged(Self.gone, at: Self.start)
        let actions = [
            choice.avahiChanged(.starting, at: Self.start), choice.avahiChanged(.running, at: Self.start),
            choice.avahiChanged(.running, at: Self.start),
        ]
        #expect(actions == [[], [.stopEmbedded], []])
        #expect(choice.current == .avahi)
    }
}
