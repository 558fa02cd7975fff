import HandoffControl
import HandoffHandlers
import HandoffJSON
import HandoffModel
import Testing

@testable import HandoffBrowser

/// The calls to the daemon for the page in front.
struct FrontPageMachineTests {
    private static let first = FrontPage(url: "https://a.example/", title: "A")
    private static let second = FrontPage(url: "https://b.example/", title: "B")

    private static func id(_ byte: UInt8) -> ActivityID {
        guard let id = ActivityID(String(repeating: byte < 16 ? "0\(byte)" : "\(byte)", count: 16)) else {
            fatalError("the id is valid")
        }
        return id
    }

    private static func change(_ set: (inout ActivityChange) -> Void) -> ActivityChange {
        var change = ActivityChange()
        set(&change)
        return change
    }

    /// A machine that offers the first page.
    private static func offering() -> FrontPageMachine {
        var machine = FrontPageMachine()
        _ = machine.attached()
        _ = machine.front(first)
        _ = machine.published(id(1))
        return machine
    }

    @Test func `a page is published, becomes current, and is replaced by the next one`() {
        var machine = FrontPageMachine()
        #expect(machine.front(Self.first) == [], "no daemon is attached")
        #expect(machine.attached() == [.send(.ready)])
        #expect(machine.front(Self.first) == [.publish(Self.first)])
        #expect(machine.published(Self.id(1)) == [.becomeCurrent(Self.id(1)), .send(.offered(true))])
        #expect(machine.front(Self.first) == [])
        #expect(machine.front(Self.second) == [.publish(Self.second)])
        #expect(
            machine.published(Self.id(2)) == [
                .becomeCurrent(Self.id(2)), .invalidate(Self.id(1)), .send(.offered(true)),
            ])
        #expect(machine.front(nil) == [.invalidate(Self.id(2)), .send(.offered(false))])
    }

    @Test func `changes during a publication are combined`() {
        var machine = FrontPageMachine()
        _ = machine.attached()
        _ = machine.front(Self.first)
        for number in 0..<100 {
            #expect(machine.front(FrontPage(url: "https://a.example/\(number)", title: "")) == [])
        }
        let last = FrontPage(url: "https://a.example/99", title: "")
        #expect(machine.published(Self.id(1)).last == .publish(last))
        #expect(machine.front(nil) == [])
        #expect(machine.published(Self.id(2)).suffix(2) == [.invalidate(Self.id(2)), .send(.offered(false))])
    }

    @Test func `a title is an update, one at a time`() {
        var machine = Self.offering()
        func title(_ text: String) -> [FrontPageMachine.Action] {
            machine.front(FrontPage(url: Self.first.url, title: text))
        }
        #expect(title("1") == [.update(Self.id(1), Self.change { $0.title = "1" })])
        #expect(title("2") == [])
        #expect(title("3") == [])
        #expect(machine.updated() == [.update(Self.id(1), Self.change { $0.title = "3" })])
        #expect(machine.updated() == [])
    }

    @Test func `the position is requested for a save, and a change is reported only after that`() {
        var machine = Self.offering()
        #expect(machine.moved() == [], "it is requested anyway")
        #expect(machine.save(Self.id(1)) == [.send(.save(request: 1, url: Self.first.url))])
        let place = PagePlace(ratio: 0.5)
        #expect(machine.place(place, request: 2) == [], "it was not requested")
        let saved = Self.change { $0.userInfo = ["place": .object(place.json)] }
        #expect(machine.place(place, request: 1) == [.answer(Self.id(1), saved)])
        #expect(machine.place(place, request: 1) == [], "it was answered")
        #expect(machine.moved() == [.update(Self.id(1), Self.change { $0.needsSave = true })])
        #expect(machine.moved() == [])
        #expect(machine.save(Self.id(1)) == [.send(.save(request: 2, url: Self.first.url))])
        #expect(machine.place(nil, request: 2) == [.answer(Self.id(1), nil)])
    }

    @Test func `playing media has another position at the next save`() {
        var machine = Self.offering()
        _ = machine.save(Self.id(1))
        let actions = machine.place(PagePlace(media: .init(time: 1, isPlaying: true)), request: 1)
        guard case .answer(_, let change?) = actions.first else {
            Issue.record("no answer: \(actions)")
            return
        }
        #expect(change.needsSave == true)
        #expect(machine.moved() == [])
    }

    @Test func `a save of an ended activity is answered immediately`() {
        var machine = Self.offering()
        #expect(machine.save(Self.id(2)) == [.answer(Self.id(2), nil)])
    }

    @Test func `a withdrawn page is offered again when its reader moves or returns, not for a title alone`() {
        for returns in [{ $0.moved() }, { $0.returned() }] as [(inout FrontPageMachine) -> [FrontPageMachine.Action]] {
            var machine = Self.offering()
            #expect(
                machine.withdrawn(Self.id(1)) == [.send(.offered(false)), .send(.watch(url: Self.first.url))])
            #expect(machine.front(FrontPage(url: Self.first.url, title: "(1) A")) == [])
            #expect(returns(&machine) == [.publish(FrontPage(url: Self.first.url, title: "(1) A"))])
            #expect(returns(&machine) == [], "it is in progress")
        }
    }

    @Test func `a page whose window becomes active becomes the current one again`() {
        var machine = Self.offering()
        #expect(machine.returned() == [.becomeCurrent(Self.id(1))])
        _ = machine.front(nil)
        #expect(machine.returned() == [])
    }

    @Test func `media stops in a page that was continued elsewhere`() {
        let machine = Self.offering()
        #expect(machine.continued(Self.id(1)) == [.send(.continued(url: Self.first.url))])
        #expect(machine.continued(Self.id(2)) == [])
    }

    @Test func `a refused page is not retried until another page is in front`() {
        var machine = FrontPageMachine()
        _ = machine.attached()
        _ = machine.front(Self.first)
        #expect(machine.refused() == [.send(.offered(false))])
        #expect(machine.front(Self.first) == [])
        #expect(machine.front(Self.second) == [.publish(Self.second)])
        _ = machine.published(Self.id(1))
        #expect(machine.withdrawn(Self.id(2)) == [])
        #expect(machine.withdrawn(Self.id(1)) == [.send(.offered(false)), .send(.watch(url: Self.second.url))])
        #expect(machine.front(Self.second) == [])
        #expect(machine.front(nil) == [])
        #expect(machine.front(Self.second) == [.publish(Self.second)])
    }

    @Test func `after a lost connection everything is sent again`() {
        var machine = Self.offering()
        #expect(machine.lost("gone") == [.send(.offered(false)), .send(.lost("gone"))])
        #expect(machine.front(Self.second) == [])
        #expect(machine.moved() == [] && machine.published(Self.id(3)) == [])
        #expect(machine.attached() == [.send(.ready)])
        #expect(machine.front(Self.second) == [.publish(Self.second)])
    }

    @Test func `a change of the rules withdraws a page, and offers it again`() {
        var machine = Self.offering()
        let rules = PageRules(exclusions: PageExclusions(["browser.conf"]) { _ in Array("a.example".utf8) })
        #expect(machine.setRules(rules) == [.invalidate(Self.id(1)), .send(.offered(false))])
        #expect(machine.setRules(rules) == [])
        #expect(machine.setRules(PageRules()) == [.publish(Self.first)])
    }
}
