import ExampleSupport
import Foundation
import Testing

@testable import Shapes

@Suite struct ShapesTests {
    private let shape = Shape(.circle, .red, x: 10, y: -20, width: 30, height: 40)

    @Test func `editing is read back from its user info`() throws {
        for editing in [Editing.createShape(.triangle, .blue), .editShape(number: 7, shape), .editDocumentProperties] {
            let back = try Editing(activityType: editing.activityType, userInfo: editing.userInfo)
            #expect(back == editing)
            #expect(editing.requiredKeys.count == editing.userInfo.count)
        }
    }

    @Test func `version one is converted`() throws {
        let type = Editing.ActivityType.self
        #expect(
            try Editing(activityType: type.createShape, userInfo: ["activity-version": 1, "shape-type": "circle"])
                == .createShape(.circle, .black))
        let old: [AnyHashable: Any] = [
            "activity-version": 1, "shape-type": "rectangle", "shape": 2, "x": 5, "y": 6, "size": 7,
        ]
        #expect(
            try Editing(activityType: type.editShape, userInfo: old)
                == .editShape(number: 2, Shape(.rectangle, .black, x: 5, y: 6, width: 7, height: 7)))
    }

    @Test func `an unreadable member is named`() {
        func problem(_ type: String, _ userInfo: [AnyHashable: Any]) -> Editing.Problem? {
            do throws(Editing.Problem) {
                _ = try Editing(activityType: type, userInfo: userInfo)
                return nil
            } catch {
                return error
            }
        }
        let create = Editing.ActivityType.createShape
        #expect(problem(create, ["activity-version": 3]) == .newer(3))
        #expect(problem(create, [:]) == .noVersion)
        #expect(problem(create, ["activity-version": 0]) == .noVersion)
        #expect(problem(create, ["activity-version": 2, "shape-type": "circle"]) == .member("colour"))
        #expect(problem(create, ["activity-version": 1, "shape-type": 5]) == .member("shape-type"))
        #expect(problem("com.example.other", ["activity-version": 1]) == .type("com.example.other"))
        var edit = Editing.editShape(number: 1, shape).userInfo
        edit["shape"] = 0
        #expect(problem(Editing.ActivityType.editShape, edit) == .member("shape"))
        edit["shape"] = 1
        edit["width"] = nil
        #expect(problem(Editing.ActivityType.editShape, edit) == .member("width"))
        #expect("\(Editing.Problem.newer(9))".contains("update Shapes on this device"))
    }

    @Test func `a shape is never out of range`() {
        let wild = Shape(.circle, .red, x: .max, y: .min, width: -5, height: .max)
        #expect(wild == Shape(.circle, .red, x: 10_000, y: -10_000, width: 1, height: 10_000))
        #expect(Shape.range.contains(wild.moved(x: .max, y: .min).x))
    }

    @Test func `a drawing is read back from its text`() throws {
        var drawing = Drawing()
        drawing.title = "A title\nof two lines"
        drawing.author = ""
        drawing.scribble(1_000)
        let back = try Drawing(text: drawing.text)
        #expect(back.shapes == drawing.shapes && back.title == "A title of two lines" && back.author.isEmpty)
        var again = Drawing()
        again.scribble(1_000)
        #expect(again.shapes == drawing.shapes)
    }

    @Test(
        arguments: [
            ("", Drawing.Problem.noDrawing), ("drawing 2\ntitle\nauthor\n", .noDrawing),
            ("drawing 1\nname\nauthor\n", .noDrawing), ("drawing 1\ntitle a\nauthor b\ncircle red 1 2 3\n", .line(4)),
            ("drawing 1\ntitle a\nauthor b\ncircle red 1 2 3 4\nline red 1 2 3 4\n", .line(5)),
            ("drawing 1\ntitle a\nauthor b\ncircle red 1 2 3 99999999999999999999\n", .line(4)),
        ])
    func `other text is rejected`(_ text: String, _ problem: Drawing.Problem) {
        #expect(throws: problem) { try Drawing(text: text.utf8) }
    }

    @Test func `a frame is read from pieces of any size`() throws {
        var drawing = Drawing()
        drawing.scribble(20)
        let bytes = DrawingFrame.bytes(drawing)
        for size in [1, 3, 7, 8, 9, 100, bytes.count] {
            var reader = DrawingFrame.Reader()
            for start in stride(from: 0, to: bytes.count, by: size) {
                #expect(!reader.isComplete)
                try reader.received(bytes[start..<min(start + size, bytes.count)])
            }
            #expect(reader.isComplete)
            // Bytes after the frame are ignored.
            try reader.received([1, 2, 3])
            #expect(try reader.drawing() == drawing)
        }
    }

    @Test func `an invalid frame is refused before memory is allocated`() throws {
        var reader = DrawingFrame.Reader()
        #expect(throws: DrawingFrame.Problem.size(.max)) { try reader.received(Array(repeating: 0xFF, count: 9)[...]) }
        reader = DrawingFrame.Reader()
        #expect(throws: DrawingFrame.Problem.size(0)) { try reader.received(Array(repeating: 0, count: 8)[...]) }
        reader = DrawingFrame.Reader()
        try reader.received([0, 0, 0, 0, 0, 0, 0, 9, 1, 2])
        #expect(throws: DrawingFrame.Problem.cut(received: 2, of: 9)) { try reader.drawing() }
        #expect(throws: DrawingFrame.Problem.cut(received: 0, of: 0)) { try DrawingFrame.Reader().drawing() }
    }

    @Test func `anything can be drawn`() {
        var drawing = Drawing()
        drawing.scribble(1_000)
        drawing.shapes += [
            Shape(.circle, .black, x: .max, y: .max, width: .max, height: .max),
            Shape(.triangle, .green, x: 380, y: 190, width: 10_000, height: 10_000),
        ]
        let lines = drawing.picture(selected: 1_002, "title")
        #expect(Set(lines.map(\.count)) == [78])
        #expect(lines.contains { $0.contains("GGGG") })
    }
}
