import HandoffControl
import HandoffModel

/// `send`: offers a page or a file to one device, until it has taken it.
package struct SendCommand: Command {
    package static let specification = CommandSpecification(
        words: ["send"], operands: "DEVICE URL|FILE|FOLDER|-", operandCount: 2...2,
        summary: "send a page, a file or a folder to one of your devices",
        options: [OptionSpecification("--title", .value("TEXT"), "what people see there")],
        details: """
            The device is named by its name, or by the beginning of its id. It shows what is sent as a notification;
            nothing moves before its user has taken it there: a page opens in the browser, and
            'handoffctl continue --output FOLDER' receives a file. Ends when it was taken. Ctrl-C takes it back.
            """,
        example: "handoffctl send laptop ./report.pdf")

    private let request: PublishRequest

    package init(validating arguments: ParsedArguments) throws(UsageError) {
        let command = Self.specification.name
        let device = try ArgumentValue.text(arguments.operands.first ?? "", option: "DEVICE")
        let text = arguments.operands.last ?? ""
        let subject = try PublishSubject(text, command: command)
        if case .activity = subject {
            throw .badValue(text, of: "what to send", expected: "a URL, a file or a folder", command: command)
        }
        request = PublishRequest(
            type: subject.type, title: arguments.value("--title") ?? subject.title, userInfo: nil,
            webpageURL: subject.page, team: nil, requiredKeys: [], stream: subject.content, recipient: device,
            endsWhenTaken: true)
    }

    package func run(in context: CommandContext) { request.run(in: context) }
}
