import HandoffControl
import HandoffModel

/// `send`: offers a page or a file to one device, until it has taken it.
package struct SendCommand: Command {
    package static let specification = CommandSpecification(
        words: ["send"], operands: "DEVICE [URL|FILE|FOLDER|-]...", operandCount: 1...33,
        summary: "send pages, files, folders or a text to one of your devices",
        options: [
            OptionSpecification("--text", .value("TEXT"), "this text, as the file Text.txt"),
            OptionSpecification("--title", .value("TEXT"), "what people see there, when one thing is sent"),
        ],
        details: """
            The device is named by its name, or by the beginning of its id. It shows what is sent as a notification;
            nothing moves before its user has taken it there: a page opens in the browser, and a file goes to the folder for
            downloads, or where 'handoffctl continue --output FOLDER' says. Several items are one notification. A device that
            is offline is offered them once it is online. Exits when every item has been accepted or declined. Ctrl-C
            withdraws the rest.
            The beginning of a text is its title. Other users of this machine may read it among the arguments: what is
            secret is better sent from standard input, by '-', which shows nothing of it.
            """,
        example: "handoffctl send laptop ./report.pdf")

    /// The most characters of a text that are its title.
    private static let maxTitle = 60

    private let requests: [PublishRequest]

    package init(validating arguments: ParsedArguments) throws(UsageError) {
        let command = Self.specification.name
        let device = try ArgumentValue.text(arguments.operands.first ?? "", option: "DEVICE")
        let title = arguments.value("--title")
        let texts = arguments.operands.dropFirst()
        let message = arguments.value("--text")
        let count = texts.count + (message == nil ? 0 : 1)
        if count == 0 { throw .missingOperand(Self.specification) }
        if title != nil, count > 1 { throw .conflict("--title", "several things to send", command: command) }
        if texts.count(where: { $0 == "-" }) > 1 { throw .conflict("-", "another -", command: command) }
        var requests: [PublishRequest] = []
        if let message {
            let text = try ArgumentValue.text(message, option: "--text")
            requests.append(
                PublishRequest(
                    type: .content, title: title ?? Self.beginning(of: text), userInfo: nil, webpageURL: nil, team: nil,
                    requiredKeys: [], stream: .text(text), recipient: device, endsWhenTaken: true))
        }
        for text in texts {
            let subject = try PublishSubject(
                try ArgumentValue.text(text, option: "what to send"), mayBeActivity: false, command: command)
            requests.append(
                PublishRequest(
                    type: subject.type, title: title ?? subject.title, userInfo: nil, webpageURL: subject.page,
                    team: nil,
                    requiredKeys: [], stream: subject.content.map { .path($0) }, recipient: device,
                    endsWhenTaken: true))
        }
        self.requests = requests
    }

    /// The first line of a text that has anything in it, as far as a title goes.
    private static func beginning(of text: String) -> String? {
        let lines = text.split(whereSeparator: \.isNewline).lazy.map { CommandContext.trimmed(String($0)) }
        guard let line = lines.first(where: { !$0.isEmpty }) else { return nil }
        return line.count > maxTitle ? line.prefix(maxTitle) + "…" : line
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
