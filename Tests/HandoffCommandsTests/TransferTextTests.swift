import HandoffModel
import HandoffTransfer
import LoopIO
import Testing

@testable import HandoffCommands

/// Tests sizes, rates, and the progress line of a transfer.
@Suite struct TransferTextTests {
    @Test(
        arguments: [
            (0, "0 bytes"), (1, "1 byte"), (1023, "1023 bytes"), (1024, "1.0 KiB"), (1536, "1.5 KiB"),
            (1_048_575, "1.0 MiB"), (1_048_576, "1.0 MiB"), (30_000_000, "28.6 MiB"), (1 << 40, "1.0 TiB"),
            (.max, "8.0 EiB"), (-1, "0 bytes"),
        ] as [(Int64, String)])
    func `sizes have one decimal digit`(_ bytes: Int64, _ text: String) {
        #expect(ByteText.text(bytes) == text)
    }

    @Test func `the rate is that of the last seconds`() throws {
        let clock = ManualClock()
        let loop = try EventLoop(clock: clock)
        var meter = TransferMeter()
        #expect(meter.rate == nil)
        for second in 0..<20 {
            // Slow at first, then a thousand bytes a second.
            meter.add(second < 10 ? Int64(second) : Int64(second - 10) * 1000 + 10, at: loop.now)
            clock.advance(by: .seconds(1))
        }
        #expect(meter.rate == 1000)
        meter.add(0, at: loop.now)
        #expect(meter.rate == nil)
    }

    @Test(
        arguments: [
            ("report.pdf", nil, 100, true), ("report.pdf", 0o644, 101, false), ("report.pdf", 0o744, 100, false),
            ("Photo.JPG", nil, 0, true), ("all.tar.gz", nil, 100, true), ("run.sh", nil, 1, false),
            ("editor.desktop", nil, 1, false), ("editor_1_amd64.deb", nil, 1, false),
            ("report.pdf.desktop", nil, 1, false),
            ("report", nil, 1, false), (".bashrc", nil, 1, false), ("run\u{202E}fdp.sh", nil, 1, false),
            ("run.sh\u{200B}", nil, 1, false), (nil, nil, 1, false), ("a/report.pdf", nil, 1, false),
            ("x.AppImage", nil, 1, false), ("page.html", nil, 1, true), ("run.py", nil, 1, false),
            ("run.jar", nil, 1, false),
        ] as [(String?, UInt32?, Int64, Bool)])
    func `only a document within the limit is saved without a prompt`(
        name: String?, mode: UInt32?, size: Int64, isSavable: Bool
    ) throws {
        let types = DocumentTypes(environment: [:])
        try #require(types.isDocument(name: "a.pdf"), "shared-mime-info is not installed")
        let header = try #require(TransferHeader(kind: .file, name: name, size: size, mode: mode))
        #expect(ProgressReports.isSavable(header, limit: 100, types) == isSavable)
    }

    @Test func `folders and output of programs are not saved without a prompt`() throws {
        let types = DocumentTypes(environment: [:])
        for kind in [TransferHeader.Kind.folder, .stream] {
            let header = try #require(TransferHeader(kind: kind, name: "report.pdf"))
            #expect(!ProgressReports.isSavable(header, limit: .max, types))
        }
    }

    @Test func `the line shows what is known`() {
        typealias Progress = TransferStatus.Progress
        let half = Progress(position: 512 * 1024, size: 1024 * 1024)
        #expect(
            TransferStatus.text("sending", [half], rate: 131_072)
                == "sending  50%  512.0 KiB of 1.0 MiB  128.0 KiB/s  0:04 left")
        #expect(TransferStatus.text("sending", [half], rate: nil) == "sending  50%  512.0 KiB of 1.0 MiB")
        #expect(
            TransferStatus.text("sending", [half, Progress(position: 1, size: nil)], rate: 0)
                == "sending 2 streams  512.0 KiB")
        #expect(TransferStatus.text("receiving", [Progress(position: 0, size: 0)], rate: nil) == "receiving  0 bytes")
    }
}
