import HandoffClient
import HandoffJSON

/// `app disable`: keep an app from publishing and continuing, for ever.
package struct AppDisableCommand: Command {
    package static let specification = CommandSpecification(
        words: ["app", "disable"], operands: "ID", operandCount: 1...1,
        summary: "keep an app from publishing and continuing, for ever",
        details: "An ID may be shortened to any beginning that fits only one app; handoffctl apps lists them.",
        example: "handoffctl app disable org.example.Editor")

    private let app: String

    package init(validating arguments: ParsedArguments) throws(UsageError) {
        app = try ArgumentValue.appID(arguments.operands, command: Self.specification.name)
    }

    package func run(in context: CommandContext) {
        context.request { client, then in
            client.setApp(app, enabled: false, then)
        } present: { app in
            if context.json {
                context.console.line(["disabled": .string(app)])
            } else {
                context.console.line("disabled \(app)")
            }
        }
    }
}
