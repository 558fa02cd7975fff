import FuzzSupport
import HandoffDaemon

/// The configuration file, and the command line. The first byte selects one.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ pointer: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = Input(pointer, count)
    switch input.byte() % 2 {
    case 0:
        do {
            var configuration = Configuration()
            let entries = try ConfigurationFile.parse(input.rest, path: "f")
            try ConfigurationLoader.overlay(entries, on: &configuration)
        } catch {
            require(error.description.hasPrefix("f:"), "an error without its position")
        }
    default:
        let words = input.rest.split(separator: 0, omittingEmptySubsequences: false).compactMap {
            String(validating: $0, as: UTF8.self)
        }
        do {
            _ = try CommandLineParser.parse(words)
        } catch {
            require(!error.description.isEmpty, "an error without a message")
        }
    }
    return 0
}
