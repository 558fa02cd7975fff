import HandoffTransport
import LoopIO
import Testing

struct AddressSlotsTests {
    private let here = IPAddress.loopbackIPv4
    private let there = IPAddress.loopbackIPv6

    @Test func `places are given in order`() {
        var slots = AddressSlots(perAddress: 2)
        func enter(_ id: AddressSlots.ID, _ address: IPAddress) -> Bool { slots.enter(id, at: address) }
        func leave(_ id: AddressSlots.ID, _ address: IPAddress) -> AddressSlots.ID? { slots.leave(id, at: address) }
        #expect(enter(1, here))
        #expect(enter(2, here))
        #expect(!enter(3, here))
        #expect(!enter(4, here))
        #expect(enter(5, there), "each address has its own")
        #expect(leave(2, here) == 3)
        #expect(leave(2, here) == nil, "the second time there is nothing to give up")
        #expect(leave(1, here) == 4)
        #expect(leave(3, here) == nil)
        #expect(enter(6, here))
    }

    @Test func `who waits may go away`() {
        var slots = AddressSlots(perAddress: 1)
        func enter(_ id: AddressSlots.ID, _ address: IPAddress) -> Bool { slots.enter(id, at: address) }
        func leave(_ id: AddressSlots.ID, _ address: IPAddress) -> AddressSlots.ID? { slots.leave(id, at: address) }
        #expect(enter(1, here))
        #expect(!enter(2, here))
        #expect(!enter(3, here))
        #expect(leave(2, here) == nil)
        #expect(leave(1, here) == 3)
    }
}
