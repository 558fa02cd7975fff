import HandoffTransport
import LoopIO
import Testing

struct AddressSlotsTests {
    private let here = IPAddress.loopbackIPv4
    private let there = IPAddress.loopbackIPv6

    @Test func `slots are assigned in order`() {
        var slots = AddressSlots(perAddress: 2)
        func enter(_ id: AddressSlots.ID, _ address: IPAddress) -> Bool { slots.enter(id, at: address) }
        func leave(_ id: AddressSlots.ID, _ address: IPAddress) -> AddressSlots.ID? { slots.leave(id, at: address) }
        #expect(enter(1, here))
        #expect(enter(2, here))
        #expect(!enter(3, here))
        #expect(!enter(4, here))
        #expect(enter(5, there), "each address has its own slots")
        #expect(leave(2, here) == 3)
        #expect(leave(2, here) == nil, "a second release has no effect")
        #expect(leave(1, here) == 4)
        #expect(leave(3, here) == nil)
        #expect(enter(6, here))
    }

    @Test func `a waiting attempt may leave the queue`() {
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
