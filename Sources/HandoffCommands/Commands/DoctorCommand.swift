import HandoffClient
import HandoffControl
import HandoffModel

/// `doctor`: what stops a handoff, and what to do.
package struct DoctorCommand: Command {
    package static let specification = CommandSpecification(
        words: ["doctor"], summary: "find out what stops a handoff, and what to do about it",
        details: """
            Looks at the daemon, the account, the switches, discovery, the port, firewalls, the clock, apps, the sandbox,
            limits, the other devices and the state folder. Status 0: no problem was found; 1: there is one.
            """,
        example: "handoffctl doctor")

    package init(validating arguments: ParsedArguments) throws(UsageError) {}

    package func run(in context: CommandContext) {
        let session = DoctorSession(context)
        context.keep(session)
        session.start()
    }
}
