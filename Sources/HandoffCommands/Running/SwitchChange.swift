import HandoffClient
import HandoffControl

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
            if context.json {
                context.console.line(switches.json)
            } else {
                context.console.line(SwitchText.text(switches))
            }
        }
    }
}
