import Glibc
import HandoffTestSupport
import LoopIO
import Testing

@Suite struct NewFileTests {
    @Test(arguments: [(UInt32(0o600), true), (0o400, true), (0o644, false), (0o640, false), (0o755, false)])
    func `a file system that lets others read a new file is detected before writing`(
        mode: UInt32, isPrivate: Bool
    ) throws {
        let folder = try ScratchFolder()
        let file = try NewFile(path: folder.path + "/secret", mode: mode)
        #expect(file.isPrivate == isPrivate)
        file.remove()
        #expect(access(folder.path + "/secret", F_OK) != 0)
    }
}
