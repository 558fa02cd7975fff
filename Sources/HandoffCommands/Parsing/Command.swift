/// One command of `handoffctl`. Reading its arguments is apart from doing its work, so that wrong usage is found
/// before anything is touched, and can be tested without a daemon.
package protocol Command: SendableMetatype {
    /// What it is called and what it takes.
    static var specification: CommandSpecification { get }

    /// Understands the arguments.
    /// - Throws: `UsageError` when a value is not of the right form.
    init(validating arguments: ParsedArguments) throws(UsageError)

    /// Begins the work; the context's loop goes on with it until the context is told that it is finished.
    func run(in context: CommandContext)
}
