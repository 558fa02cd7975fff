package import LoopIO

/// One command of `handoffctl`. Arguments are validated separately from the work, so that usage
/// errors are reported before anything is changed, and can be tested without a daemon.
package protocol Command: SendableMetatype {
    /// The name, operands, options and help of the command.
    static var specification: CommandSpecification { get }

    /// Validates the arguments.
    /// - Throws: `UsageError` when a value is malformed.
    init(validating arguments: ParsedArguments) throws(UsageError)

    /// Starts the work. The context's loop drives it until `finish` is called on the context.
    func run(in context: CommandContext)
}
