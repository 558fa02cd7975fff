import HandoffModel
import Testing

@testable import HandoffDaemon

@Suite struct FileSemaphoreTests {
    private final class Call {}

    @Test
    func `one device cannot use all slots, and regains one for each file that ends`() {
        let calls = (0..<40).map { _ in Call() }
        let ids = calls.map { ObjectIdentifier($0) }
        let one = DeviceID(checked: [UInt8](repeating: 1, count: DeviceID.byteCount))
        let other = DeviceID(checked: [UInt8](repeating: 2, count: DeviceID.byteCount))
        var places = FileSemaphore()
        var taken = ids[...32].map { places.take($0, for: one) }
        #expect(taken == [Bool](repeating: true, count: 32) + [false])
        let isFree = places.take(ids[33], for: other)
        #expect(isFree)
        // Twice, as if a call ends and its client disconnects afterwards.
        places.release(ids[0])
        places.release(ids[0])
        taken = [places.take(ids[32], for: one), places.take(ids[34], for: one)]
        #expect(taken == [true, false])
        withExtendedLifetime(calls) {}
    }
}
