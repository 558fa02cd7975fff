import HandoffHandlers
import HandoffJSON
import Testing

/// The power-saving state of a machine.
@Suite struct MachinePowerTests {
    @Test(
        arguments: [
            (nil, nil, false), (true, nil, true), (false, nil, false), (false, "power-saver", true),
            (nil, "power-saver", true),
            (true, "balanced", true), (true, "performance", false), (false, "balanced", false),
        ] as [(Bool?, String?, Bool)])
    func `it saves power on battery, and by its profile, which takes precedence`(
        isOnBattery: Bool?, profile: String?, isSaving: Bool
    ) {
        #expect(MachinePower(isOnBattery: isOnBattery, profile: profile).isSaving == isSaving)
    }

    @Test func `the value on the socket is preserved`() throws {
        #expect(try MachinePower(json: MachinePower(isSaving: true).json) == MachinePower(isSaving: true))
        #expect(throws: (any Error).self) { try MachinePower(json: ["saving": "yes"]) }
    }
}
