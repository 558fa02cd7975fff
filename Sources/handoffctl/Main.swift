import Glibc
import HandoffCommands
import LoopIO

/// The entry point. Everything else is in `HandoffCommands`, where tests can import it.
@main
struct Main {
    static func main() {
        let console = Console.standard(outputFailed: { exit(ExitStatus.failed.rawValue) })
        let arguments = ProcessEnvironment.arguments
        if arguments.first == TerminalRelay.word { exit(TerminalRelay.run(Array(arguments.dropFirst())).rawValue) }
        let status = Program.run(arguments, .ofProcess, console, .standard)
        do throws(Errno) {
            try StandardStream.output.finish()
        } catch {
            console.writeDiagnostics("handoffctl: cannot write to standard output: \(error)\n")
            exit(ExitStatus.failed.rawValue)
        }
        exit(status.rawValue)
    }
}
