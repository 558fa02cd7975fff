import HandoffControl
import HandoffModel
import HandoffState
import LoopIO
import Testing

/// The directions that the user has switched off.
@Suite struct SwitchesTests {
    private static let device = DeviceID(checked: [UInt8](repeating: 7, count: DeviceID.byteCount))
    private static let other = DeviceID(checked: [UInt8](repeating: 8, count: DeviceID.byteCount))

    private func at(_ unixSeconds: UInt64, _ seconds: UInt64) -> SwitchMoment {
        SwitchMoment(unixSeconds: unixSeconds, instant: MonotonicInstant(nanoseconds: seconds * 1_000_000_000))
    }

    @Test
    func `initially everything is on`() {
        #expect(!Switches().isOff(.advertise))
        #expect(!Switches().isOff(.receive, for: Self.device))
        #expect(Switches().wait(at: at(0, 0)) == nil)
    }

    @Test
    func `a direction is off for all devices, or for one; the other direction stays unchanged`() {
        var switches = Switches()
        switches.turnOff(Switches.Place(.advertise, Self.device), seconds: nil, at: at(1000, 1))
        #expect(!switches.isOff(.advertise))
        #expect(switches.isOff(.advertise, for: Self.device))
        #expect(!switches.isOff(.advertise, for: Self.other))
        #expect(switches.devices(without: .advertise) == [Self.device])
        switches.turnOff(Switches.Place(.advertise), seconds: nil, at: at(1000, 1))
        #expect(switches.isOff(.advertise, for: Self.other))
        #expect(!switches.isOff(.receive, for: Self.device))
        switches.turnOn(Switches.Place(.advertise))
        #expect(switches.isOff(.advertise, for: Self.device))
        switches.retain([Self.other])
        #expect(!switches.isOff(.advertise, for: Self.device))
    }

    @Test
    func `a time ends by the loop's clock, and is checked every half minute in case the wall clock was set`() {
        var switches = Switches()
        switches.turnOff(Switches.Place(.receive), seconds: 100, at: at(1000, 1))
        #expect(switches.wait(at: at(1000, 1)) == .seconds(30))
        #expect(switches.wait(at: at(1095, 96)) == .seconds(5))
        do {
            let hasEnded = switches.review(at: at(1099, 100))
            #expect(!hasEnded)
        }
        #expect(switches.isOff(.receive))
        do {
            let hasEnded = switches.review(at: at(1100, 101))
            #expect(hasEnded)
        }
        #expect(!switches.isOff(.receive))
        #expect(switches.wait(at: at(1100, 101)) == nil)
    }

    @Test
    func `setting the wall clock forward ends it; setting it back does not extend it`() {
        var forward = Switches()
        forward.turnOff(Switches.Place(.receive), seconds: 3600, at: at(1000, 1))
        var back = forward
        do {
            let hasEnded = forward.review(at: at(100_000, 2))
            #expect(hasEnded)
        }
        do {
            let hasEnded = back.review(at: at(10, 2))
            #expect(!hasEnded)
        }
        do {
            let hasEnded = back.review(at: at(3610, 3601))
            #expect(hasEnded)
        }
    }

    @Test
    func `an entry read from a file is timed, even with a clock that is not set yet`() throws {
        var switches = Switches()
        switches.turnOff(Switches.Place(.receive), seconds: 3600, at: at(1_000_000, 1))
        let file = switches.encoded()

        var later = try Switches(decoding: file)
        do {
            let hasEnded = later.review(at: at(1_001_800, 5))
            #expect(!hasEnded)
        }
        #expect(later.isOff(.receive))
        do {
            let hasEnded = later.review(at: at(1_003_601, 6))
            #expect(hasEnded)
        }

        var unset = try Switches(decoding: file)
        do {
            let hasEnded = unset.review(at: at(0, 5))
            #expect(!hasEnded)
        }
        #expect(unset.isOff(.receive))
        // The clock is finally set, to a time at which it is still off. Then the whole duration has
        // passed.
        do {
            let hasEnded = unset.review(at: at(1_000_100, 10))
            #expect(!hasEnded)
        }
        do {
            let hasEnded = unset.review(at: at(1_000_200, 3700))
            #expect(hasEnded)
        }
    }

    @Test
    func `a file is read back as written`() throws {
        var switches = Switches()
        switches.turnOff(Switches.Place(.receive, Self.device), seconds: nil, at: at(1000, 1))
        switches.turnOff(Switches.Place(.advertise), seconds: 9, at: at(2000, 1))
        let text = String(decoding: switches.encoded(), as: UTF8.self)
        #expect(text == "advertise all 2000 2010\nreceive \(Self.device.hex) 1000 forever\n")
        #expect(try Switches(decoding: switches.encoded()).encoded() == switches.encoded())
        #expect(try Switches(decoding: []).entries.isEmpty)
    }

    @Test(arguments: [
        "advertise all 1 2", "x all 1 2\n", "advertise all 1\n", "advertise some 1 2\n", "advertise all -1 2\n",
        "advertise all 1 never\n", "advertise all 1 99999999999999999999\n", "advertise all 1 2 3\n", "\u{0}\n",
    ])
    func `an invalid line is reported`(_ text: String) {
        let error = #expect(throws: Switches.BadLine.self) { try Switches(decoding: Array(text.utf8)) }
        #expect(error?.number == 1)
    }

    @Test(arguments: [0, 1e-9, 1e300, .infinity, .nan, -5])
    func `times out of range are limited and never trap`(_ seconds: Double) {
        for clock in [UInt64(0), .max, .max - 1] {
            var switches = Switches()
            switches.turnOff(Switches.Place(.advertise), seconds: seconds, at: at(clock, 1))
            _ = switches.review(at: at(clock, 2))
            _ = switches.wait(at: at(clock, 2))
        }
    }

    @Test
    func `times in a file never trap`() throws {
        for line in ["advertise all \(UInt64.max) 0\n", "advertise all 0 \(UInt64.max)\n", "advertise all 5 4\n"] {
            for clock in [UInt64(0), 10, .max] {
                var switches = try Switches(decoding: Array(line.utf8))
                _ = switches.review(at: at(clock, 2))
                _ = switches.wait(at: at(clock, 2))
            }
        }
    }

    @Test
    func `an end before the start switches on immediately`() throws {
        var switches = try Switches(decoding: Array("advertise all 2000 1000\n".utf8))
        let first = switches.review(at: at(500, 2))
        let second = switches.review(at: at(500, 2))
        #expect(first && !second && switches.entries.isEmpty)
    }
}
