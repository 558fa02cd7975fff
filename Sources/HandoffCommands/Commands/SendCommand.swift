import HandoffControl
import HandoffModel

/// `send`: offers a page or a file to one device, until it has taken it.
package struct SendCommand: Command {
    package static let specification = CommandSpecification(
        words: ["send"], operands: "DEVICE URL|FILE|FOLDER|-...", operandCount: 2...33,
        summary: "send pages, files or folders to one of your devices",
        options: [OptionSpecification("--title", .value("TEXT"), "what people see there, of one thing")],
        details: """
            The device is named by its name, or by the beginning of its id. It shows what is sent as a notification;
            nothing moves before its user has taken it there: a page opens in the browser, and a file goes to the folder for
            downloads, or where 'handoffctl continue --output FOLDER' says. Of several things each is taken by itself. Ends
            when all were taken. Ctrl-C takes back what was not.
            """,
        example: "handoffctl send laptop ./report.pdf")

    private let requests: [PublishRequest]

    package init(validating arguments: ParsedArguments) throws(UsageError) {
        let command = Self.specification.name
        let device = try ArgumentValue.text(arguments.operands.first ?? "", option: "DEVICE")
        let title = arguments.value("--title")
        let texts = arguments.operands.dropFirst()
        if title != nil, texts.count > 1 { throw .conflict("--title", "several things to send", command: command) }
        if texts.count(where: { $0 == "-" }) > 1 { throw .conflict("-", "another -", command: command) }
        var requests: [PublishRequest] = []
        for text in texts {
            let subject = try PublishSubject(text, command: command)
            if case .activity = subject {
                throw .badValue(text, of: "what to send", expected: "a URL, a file or a folder", command: command)
            }
            requests.append(
                PublishRequest(
                    type: subject.type, title: title ?? subject.title, userInfo: nil, webpageURL: subject.page,
                    team: nil,
                    requiredKeys: [], stream: subject.content, recipient: device, endsWhenTaken: true))
        }
        self.requests = requests
    }

    package func run(in context: CommandContext) {
        do throws(CommandFailure) {
            let session = try SendSession(requests, context)
            context.keep(session)
            session.start()
        } catch {
            context.fail(error)
        }
    }
}
