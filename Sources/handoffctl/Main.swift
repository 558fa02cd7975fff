import Glibc
import HandoffCommands

/// The entry point: everything else is in `HandoffCommands`, so that tests can reach it.
@main
struct Main {
    static func main() {
        let console = Console.standard(outputFailed: { exit(ExitStatus.failed.rawValue) })
        let arguments = Array(CommandLine.arguments.dropFirst())
        exit(Program.run(arguments, .ofProcess, console, .standard).rawValue)
    }
}
