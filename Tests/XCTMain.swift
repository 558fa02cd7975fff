// The entry point of the test program. If the package manager generates it, it first indexes every
// module to find XCTest tests, which takes a fifth of the processor time of a build.
import Testing

@main struct TestProgram {
    static func main() async {
        // `swift test` also starts this program for XCTest, which has no tests here.
        guard CommandLine.arguments.contains("swift-testing") else {
            print("no XCTest tests; run with --testing-library swift-testing")
            return
        }
        await Testing.__swiftPMEntryPoint() as Never
    }
}
