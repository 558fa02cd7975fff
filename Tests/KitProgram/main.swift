// An app for the system tests: reads commands from its standard input, a line of JSON each, and prints what HandoffKit tells it
// as lines of JSON. Ends with its input.
//
//     KitProgram runloop | dispatch | none
//
// runloop: callbacks on the main queue, served by RunLoop.main; dispatch: by dispatchMain(); none: callbacks on a queue of its
// own, and the main thread only reads.
import Dispatch
import Foundation

let mode = CommandLine.arguments.dropFirst().first ?? "runloop"
let queue = mode == "none" ? DispatchQueue(label: "own") : .main
let app = KitApp(queue: queue)

/// Performs commands in the order in which they come, where callbacks come too.
@Sendable func readCommands() {
    while let line = readLine() {
        // What the app blocks in on purpose is ended from outside of its queue.
        if line.contains("\"release\"") { app.release() } else { queue.async { app.perform(line) } }
    }
    exit(0)
}

if mode == "none" { readCommands() }
Thread.detachNewThread(readCommands)
if mode == "dispatch" { dispatchMain() }
while true { RunLoop.main.run() }
