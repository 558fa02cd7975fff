import HandoffClient
import HandoffControl
import HandoffModel
package import LoopIO

/// `advertise`: turns offering activities on or off.
package struct AdvertiseCommand: Command {
    package static let specification = CommandSpecification(
        words: ["advertise"], operands: [.one(.words(["on", "off"])), .optional("DURATION")],
        summary: "turn offering activities to the other devices on or off",
        options: [SwitchChange.deviceOption],
        details: """
            Off: current offers are withdrawn immediately, and requests for them are refused. With --device, only for
            that device. See handoffctl help pause for DURATION and the output.
            """,
        example: "handoffctl advertise off 1h")

    private let change: SwitchChange

    package init(validating arguments: ParsedArguments) throws(UsageError) {
        change = try SwitchChange(.advertise, arguments, command: Self.specification.name)
    }

    package func run(in context: CommandContext) { change.run(in: context) }
}

/// `receive`: turns showing and continuing other devices' activities on or off.
package struct ReceiveCommand: Command {
    package static let specification = CommandSpecification(
        words: ["receive"], operands: [.one(.words(["on", "off"])), .optional("DURATION")],
        summary: "turn showing and continuing the other devices' activities on or off",
        options: [SwitchChange.deviceOption],
        details: """
            Off: list and watch show nothing, and continue fails with SwitchedOff, which names the cause. With
            --device, only offers of that device. See handoffctl help pause for DURATION and the output.
            """,
        example: "handoffctl receive off 1h")

    private let change: SwitchChange

    package init(validating arguments: ParsedArguments) throws(UsageError) {
        change = try SwitchChange(.receive, arguments, command: Self.specification.name)
    }

    package func run(in context: CommandContext) { change.run(in: context) }
}

/// `pause`: turns off advertising and receiving, for a duration or until `resume`.
package struct PauseCommand: Command {
    package static let specification = CommandSpecification(
        words: ["pause"], operands: [.optional("DURATION")],
        summary: "stop offering activities to the other devices and showing theirs",
        options: [SwitchChange.deviceOption],
        details: """
            There are two switches. 'advertise' controls the activities that this device offers and gives to others.
            'receive' controls the activities of others that it shows and continues. 'pause' turns both off, 'resume'
            both on. Operations in progress, streams too, are completed. The device stays in its account, and the
            others still see it. With --device, the others notice nothing.

            DURATION is a number with a unit (s, min, h, d), such as 30min or 1h30m, at most a year. Without it, the
            setting stays until you change it. Switches and times are kept across restarts. Times use the wall clock.
            Setting the clock back does not extend them. These commands cannot switch on what the administrator forbids
            in /etc/handoff/policy.d or what handoffd.conf switches off. While the screen is locked, or the desktop has
            been idle for a while, nothing is advertised either.

            Prints the resulting state, as handoffctl status does.

            With --json: advertising, receiving (for devices in general), holds (the reasons why something is off, each
            direction, by, device, until, message). In a reason, by is user, configuration, policy, session or network,
            and device and until may be null.
            """,
        example: "handoffctl pause 2h")

    private let change: SwitchChange

    package init(validating arguments: ParsedArguments) throws(UsageError) {
        change = try SwitchChange(
            [.advertise: false, .receive: false], duration: arguments.operands.first, arguments,
            command: Self.specification.name)
    }

    package func run(in context: CommandContext) { change.run(in: context) }
}

/// `resume`: turns advertising and receiving on again.
package struct ResumeCommand: Command {
    package static let specification = CommandSpecification(
        words: ["resume"], summary: "offer activities to the other devices again, and show theirs",
        options: [SwitchChange.deviceOption],
        details: """
            Ends 'pause', 'advertise off' and 'receive off'. Directions that were turned off for one device stay off.
            See handoffctl help pause for the output.
            """,
        example: "handoffctl resume")

    private let change: SwitchChange

    package init(validating arguments: ParsedArguments) throws(UsageError) {
        change = try SwitchChange(
            [.advertise: true, .receive: true], duration: nil, arguments, command: Self.specification.name)
    }

    package func run(in context: CommandContext) { change.run(in: context) }
}

/// The change requested by `pause`, `resume`, `advertise` or `receive`.
struct SwitchChange {
    /// The option that limits the change to one device.
    static let deviceOption = OptionSpecification(
        "--device", .value(.otherDevice), "only for this device (name or id prefix)")

    private let request: SetSwitchesRequest

    /// Creates a change of one or both directions.
    /// - Parameter duration: how long the directions stay off, as typed.
    init(
        _ states: [SwitchDirection: Bool], duration: String?, _ arguments: ParsedArguments, command: String
    ) throws(UsageError) {
        var seconds: Double?
        if let duration { seconds = try ArgumentValue.span(duration, command: command) }
        var device: String?
        if let text = arguments.value("--device") { device = try ArgumentValue.text(text, option: "--device") }
        request = SetSwitchesRequest(
            advertise: states[.advertise], receive: states[.receive], seconds: seconds, device: device)
    }

    /// Creates a change of one direction from the operands `on`, `off` or `off DURATION`.
    init(_ direction: SwitchDirection, _ arguments: ParsedArguments, command: String) throws(UsageError) {
        let word = arguments.operands.first ?? ""
        guard word == "on" || word == "off" else {
            throw .badValue(word, of: "state", expected: "'on' or 'off'", command: command)
        }
        let duration = arguments.operands.dropFirst().first
        if word == "on", duration != nil { throw .conflict("on", "a duration", command: command) }
        try self.init([direction: word == "on"], duration: duration, arguments, command: command)
    }

    /// Sends the change to the daemon and shows the resulting state.
    func run(in context: CommandContext) {
        context.request { client, then in
            client.setSwitches(request, then)
        } present: { switches in
            context.show(switches.json, or: SwitchText.text(switches))
        }
    }
}

/// Formats the switches.
enum SwitchText {
    /// Returns the state, then a line for each reason why something is off.
    static func text(_ switches: ControlSwitches) -> String {
        let state = "advertising \(word(switches.advertising)), receiving \(word(switches.receiving))"
        return ([state] + switches.holds.map(line)).joined(separator: "\n")
    }

    private static func word(_ isOn: Bool) -> String { isOn ? "on" : "off" }

    private static func line(_ restriction: ControlRestriction) -> String {
        VisibleText.escape(restriction.message) + (restriction.until.map { " until \(LocalTime.text($0))" } ?? "")
    }
}
