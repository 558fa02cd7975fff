import Glibc
import HandoffCommands
import LoopIO

/// The entry point: everything else is in `HandoffCommands`, so that tests can reach it.
@main
struct Main {
    static func main() {
        let console = Console.standard(outputFailed: { exit(ExitStatus.failed.rawValue) })
        let arguments = ProcessEnvironment.arguments
        exit(Program.run(arguments, .ofProcess, console, .standard).rawValue)
    }
}
