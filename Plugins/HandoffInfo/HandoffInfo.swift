import Foundation
import PackagePlugin

/// Copies a program's Info.plist next to the program, where HandoffKit finds it, and generates a
/// handler file from it.
@main
struct HandoffInfo: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        let info = target.directoryURL.appending(path: "Info.plist")
        guard FileManager.default.fileExists(atPath: info.path) else {
            Diagnostics.error("\(target.name) has no Info.plist in \(target.directoryURL.path)")
            return []
        }
        // Generated files that are not sources become resources of the target.
        let outputs = ["Handoff-Info.plist", "Handoff-handler.json"].map {
            context.pluginWorkDirectoryURL.appending(path: $0)
        }
        return [
            .buildCommand(
                displayName: "Handoff: generating the handler file of \(target.name)",
                executable: try context.tool(named: "handoff-info").url,
                arguments: [info.path, target.name] + outputs.map(\.path), inputFiles: [info], outputFiles: outputs)
        ]
    }
}
