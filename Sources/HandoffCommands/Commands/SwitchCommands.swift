import HandoffClient
import HandoffControl
import HandoffModel
import LoopIO

/// `advertise`: the switch of one direction.
package struct AdvertiseCommand: Command {
    package static let specification = CommandSpecification(
        words: ["advertise"], operands: "on|off [DURATION]", operandCount: 1...2,
        summary: "offer what is done here to the other devices, or not",
        options: [SwitchChange.deviceOption],
        details: """
            Off: what was on offer is withdrawn at once, and given to nobody any more.
            DURATION is a number with a unit (s, min, h, d), such as 30min or 1h30m; without it, until it is switched on.
            What was begun is completed. The switch outlasts restarts.
            """,
        example: "handoffctl advertise off 1h")

    private let change: SwitchChange

    package init(validating arguments: ParsedArguments) throws(UsageError) {
        change = try SwitchChange(.advertise, arguments, command: Self.specification.name)
    }

    package func run(in context: CommandContext) { change.run(in: context) }
}

/// `receive`: the switch of one direction.
package struct ReceiveCommand: Command {
    package static let specification = CommandSpecification(
        words: ["receive"], operands: "on|off [DURATION]", operandCount: 1...2,
        summary: "show what the other devices offer and continue it here, or not",
        options: [SwitchChange.deviceOption],
        details: """
            Off: list and watch show nothing, and continue says why.
            DURATION is a number with a unit (s, min, h, d), such as 30min or 1h30m; without it, until it is switched on.
            What was begun is completed. The switch outlasts restarts.
            """,
        example: "handoffctl receive off 1h")

    private let change: SwitchChange

    package init(validating arguments: ParsedArguments) throws(UsageError) {
        change = try SwitchChange(.receive, arguments, command: Self.specification.name)
    }

    package func run(in context: CommandContext) { change.run(in: context) }
}

/// `pause`: neither advertise nor receive, for a time or until `resume`.
package struct PauseCommand: Command {
    package static let specification = CommandSpecification(
        words: ["pause"], operands: "[DURATION]", operandCount: 0...1,
        summary: "neither offer activities to the other devices nor show theirs",
        options: [SwitchChange.deviceOption],
        details: """
            DURATION is a number with a unit (s, min, h, d), such as 30min or 1h30m; without it, until handoffctl resume.
            What was begun is completed. The device stays in its account, and the pause outlasts restarts.
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

/// `resume`: advertise and receive again.
package struct ResumeCommand: Command {
    package static let specification = CommandSpecification(
        words: ["resume"], summary: "offer activities to the other devices again, and show theirs",
        options: [SwitchChange.deviceOption],
        details: "Ends pause, advertise off and receive off. What was switched off for one device alone stays off.",
        example: "handoffctl resume")

    private let change: SwitchChange

    package init(validating arguments: ParsedArguments) throws(UsageError) {
        change = try SwitchChange(
            [.advertise: true, .receive: true], duration: nil, arguments, command: Self.specification.name)
    }

    package func run(in context: CommandContext) { change.run(in: context) }
}

/// What `pause`, `resume`, `advertise` and `receive` ask for.
struct SwitchChange {
    /// Switches for one device.
    static let deviceOption = OptionSpecification(
        "--device", .value("DEVICE"), "only towards this device: its name, or the beginning of its id")

    private let request: SetSwitchesRequest

    /// A change of some directions.
    ///
    /// - Parameter duration: how long what is switched off stays so, as it was typed.
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

    /// A change of one direction, from the operands `on`, or `off` with a time or without.
    init(_ direction: SwitchDirection, _ arguments: ParsedArguments, command: String) throws(UsageError) {
        let word = arguments.operands.first ?? ""
        guard word == "on" || word == "off" else {
            throw .badValue(word, of: "state", expected: "'on' or 'off'", command: command)
        }
        let duration = arguments.operands.dropFirst().first
        if word == "on", duration != nil { throw .conflict("on", "a time", command: command) }
        try self.init([direction: word == "on"], duration: duration, arguments, command: command)
    }

    /// Has the daemon make it, and shows what holds then.
    func run(in context: CommandContext) {
        context.request { client, then in
            client.setSwitches(request, then)
        } present: { switches in
            context.show(switches.json, or: SwitchText.text(switches))
        }
    }
}

/// The switches, for people.
enum SwitchText {
    /// What is on, and a line for each reason why something is not.
    static func text(_ switches: ControlSwitches) -> String {
        let state = "advertising \(word(switches.advertising)), receiving \(word(switches.receiving))"
        return ([state] + switches.holds.map(line)).joined(separator: "\n")
    }

    private static func word(_ isOn: Bool) -> String { isOn ? "on" : "off" }

    private static func line(_ hold: ControlRestriction) -> String {
        VisibleText.escape(hold.message) + (hold.until.map { " until \(LocalTime.text($0))" } ?? "")
    }
}
