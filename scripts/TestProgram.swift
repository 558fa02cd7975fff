// The entry point of the tests in CI (scripts/test). It does what a generated one does.
import Testing

@main struct TestProgram {
    static func main() async { await Testing.__swiftPMEntryPoint() as Never }
}
