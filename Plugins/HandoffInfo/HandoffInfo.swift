import Foundation
import PackagePlugin

/// Brings the Info.plist of a program to where HandoffKit finds it, beside the program, and makes a handler file of it.
@main
struct HandoffInfo: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        let info = target.directoryURL.appending(path: "Info.plist")
        guard FileManager.default.fileExists(atPath: info.path) else {
            Diagnostics.error("\(target.name) has no Info.plist in \(target.directoryURL.path)")
            return []
        }
        // What is made and is no source becomes a resource of the target.
        let outputs = ["Handoff-Info.plist", "Handoff-handler.json"].map {
            context.pluginWorkDirectoryURL.appending(path: $0)
        }
        return [
            .buildCommand(
                displayName: "Handoff: what \(target.name) continues",
                executable: try context.tool(named: "handoff-info").url,
                arguments: [info.path, target.name] + outputs.map(\.path), inputFiles: [info], outputFiles: outputs)
        ]
    }
}
