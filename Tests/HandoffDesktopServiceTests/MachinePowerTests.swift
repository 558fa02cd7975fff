import HandoffDesktop
import HandoffJSON
import Testing

/// When a machine saves power.
@Suite struct MachinePowerTests {
    @Test(
        arguments: [
            (nil, nil, false), (true, nil, true), (false, nil, false), (false, "power-saver", true),
            (nil, "power-saver", true),
            (true, "balanced", true), (true, "performance", false), (false, "balanced", false),
        ] as [(Bool?, String?, Bool)])
    func `it does on its battery, and by its profile, which is the user's word`(
        isOnBattery: Bool?, profile: String?, isSaving: Bool
    ) {
        #expect(MachinePower(isOnBattery: isOnBattery, profile: profile).isSaving == isSaving)
    }

    @Test func `what crosses the socket is what was said`() throws {
        #expect(try MachinePower(json: MachinePower(isSaving: true).json) == MachinePower(isSaving: true))
        #expect(throws: (any Error).self) { try MachinePower(json: ["saving": "yes"]) }
    }
}
