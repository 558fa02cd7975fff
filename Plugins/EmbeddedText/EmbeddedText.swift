import Foundation
import PackagePlugin

/// Generates `EmbeddedText`, with a string for each Varlink file of a target. The package manager's
/// own `embedInCode` generates an array literal, which takes half a minute of processor time to
/// compile in a release build.
@main
struct EmbeddedText: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        let files = (target as? SwiftSourceModuleTarget)?.sourceFiles(withSuffix: "varlink").map(\.url) ?? []
        let output = context.pluginWorkDirectoryURL.appending(path: "EmbeddedText.swift")
        // The line break before the closing quotation marks is not part of a string.
        let script = ##"""
            out=$1; shift
            {
                echo 'enum EmbeddedText {'
                for file; do
                    name=${file##*/}
                    echo "static let \`${name%.varlink}\` = #\"\"\""
                    cat "$file"
                    printf '\n"""#\n'
                done
                echo '}'
            } >"$out"
            """##
        return [
            .buildCommand(
                displayName: "Embedding the interfaces of \(target.name)", executable: URL(filePath: "/bin/sh"),
                arguments: ["-ceu", script, "sh", output.path] + files.map(\.path), inputFiles: files,
                outputFiles: [output])
        ]
    }
}
