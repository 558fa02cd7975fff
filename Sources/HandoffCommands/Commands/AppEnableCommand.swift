import HandoffClient
import HandoffJSON

/// `app enable`: let an app publish and continue again.
package struct AppEnableCommand: Command {
    package static let specification = CommandSpecification(
        words: ["app", "enable"], operands: "ID", operandCount: 1...1,
        summary: "let an app publish and continue again",
        details: "An ID may be shortened to any beginning that fits only one app; handoffctl apps lists them.",
        example: "handoffctl app enable org.example.Editor")

    private let app: String

    package init(validating arguments: ParsedArguments) throws(UsageError) {
        app = try ArgumentValue.appID(arguments.operands, command: Self.specification.name)
    }

    package func run(in context: CommandContext) {
        context.request { client, then in
            client.setApp(app, enabled: true, then)
        } present: { app in
            if context.json {
                context.console.line(["enabled": .string(app)])
            } else {
                context.console.line("enabled \(app)")
            }
        }
    }
}
