import HandoffDaemon
import Testing

/// The messages of pairing.
@Suite struct PairingFailureTests {
    @Test(arguments: PairingFailure.ofJoiner + PairingFailure.ofInviter)
    func `every failure is a fragment for users`(_ failure: PairingFailure) {
        #expect(failure.message.utf8.count > 20)
        #expect(!failure.message.hasSuffix("."))
        #expect(failure.message.first?.isUppercase == false)
    }

    @Test func `every reason is used`() {
        let used = Set((PairingFailure.ofJoiner + PairingFailure.ofInviter).map(\.reason))
        #expect(used == Set(PairingFailure.Reason.allCases))
    }
}
