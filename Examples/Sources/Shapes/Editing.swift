import Foundation

/// The user's current action on the drawing, as a value and as the versioned `userInfo` of an
/// activity.
///
/// The activity contains only this action. The drawing itself is sent over a stream.
enum Editing: Equatable, Sendable {
    /// Choosing the location of a new shape.
    case createShape(Shape.Kind, Shape.Colour)
    /// Changing a shape of the drawing, counted from 1, in its current state.
    case editShape(number: Int, Shape)
    /// Changing the title and the author.
    case editDocumentProperties

    enum ActivityType {
        static let createShape = "com.example.shapes.create-shape"
        static let editShape = "com.example.shapes.edit-shape"
        static let editDocumentProperties = "com.example.shapes.edit-document-properties"

        static let all = [createShape, editShape, editDocumentProperties]
    }

    /// The version of `userInfo` that is written. Version 1 had no colours, and a single size for
    /// width and height.
    static let version = 2

    enum Key {
        static let version = "activity-version"
        static let shapeType = "shape-type"
        static let colour = "colour"
        static let shape = "shape"
        static let x = "x"
        static let y = "y"
        static let width = "width"
        static let height = "height"
        /// Used by version 1.
        static let size = "size"
    }

    /// An error that prevents an activity from being continued.
    enum Problem: Error, Equatable, CustomStringConvertible {
        case noVersion
        /// A later version of the app wrote the activity.
        case newer(Int)
        /// A member is missing or invalid.
        case member(String)
        /// This app does not have the type.
        case type(String)

        var description: String {
            switch self {
            case .noVersion: "the activity has no version"
            case .newer(let version):
                "the activity has version \(version), but this Shapes reads only up to version \(Editing.version): "
                    + "update Shapes on this device"
            case .member(let key): "the activity has no valid '\(key)'"
            case .type(let type): "Shapes does not support the activity type \(type)"
            }
        }
    }

    /// Reads an activity of this version or an earlier one.
    /// - Throws: the error that prevents it from being continued.
    init(activityType: String, userInfo: [AnyHashable: Any]) throws(Problem) {
        guard let version = userInfo[Key.version] as? Int, version >= 1 else { throw .noVersion }
        guard version <= Self.version else { throw .newer(version) }
        switch activityType {
        case ActivityType.createShape:
            self = .createShape(try Self.kind(userInfo), try Self.colour(userInfo, version))
        case ActivityType.editShape:
            let number = try Self.number(Key.shape, userInfo)
            guard number >= 1 else { throw .member(Key.shape) }
            let shape = Shape(
                try Self.kind(userInfo), try Self.colour(userInfo, version), x: try Self.number(Key.x, userInfo),
                y: try Self.number(Key.y, userInfo),
                width: try Self.number(version >= 2 ? Key.width : Key.size, userInfo),
                height: try Self.number(version >= 2 ? Key.height : Key.size, userInfo))
            self = .editShape(number: number, shape)
        case ActivityType.editDocumentProperties: self = .editDocumentProperties
        default: throw .type(activityType)
        }
    }

    private static func kind(_ userInfo: [AnyHashable: Any]) throws(Problem) -> Shape.Kind {
        guard let kind = (userInfo[Key.shapeType] as? String).flatMap(Shape.Kind.init) else {
            throw .member(Key.shapeType)
        }
        return kind
    }

    private static func colour(_ userInfo: [AnyHashable: Any], _ version: Int) throws(Problem) -> Shape.Colour {
        guard version >= 2 else { return .black }
        guard let colour = (userInfo[Key.colour] as? String).flatMap(Shape.Colour.init) else {
            throw .member(Key.colour)
        }
        return colour
    }

    private static func number(_ key: String, _ userInfo: [AnyHashable: Any]) throws(Problem) -> Int {
        guard let number = userInfo[key] as? Int else { throw .member(key) }
        return number
    }

    var activityType: String {
        switch self {
        case .createShape: ActivityType.createShape
        case .editShape: ActivityType.editShape
        case .editDocumentProperties: ActivityType.editDocumentProperties
        }
    }

    var userInfo: [AnyHashable: Any] {
        switch self {
        case .createShape(let kind, let colour):
            [Key.version: Self.version, Key.shapeType: kind.rawValue, Key.colour: colour.rawValue]
        case .editShape(let number, let shape):
            [
                Key.version: Self.version, Key.shape: number, Key.shapeType: shape.kind.rawValue,
                Key.colour: shape.colour.rawValue, Key.x: shape.x, Key.y: shape.y, Key.width: shape.width,
                Key.height: shape.height,
            ]
        case .editDocumentProperties: [Key.version: Self.version]
        }
    }

    var requiredKeys: Set<String> { Set(userInfo.keys.compactMap { $0 as? String }) }

    /// True if it concerns the drawing, which the other device then also needs.
    var needsDrawing: Bool {
        if case .createShape = self { false } else { true }
    }

    /// Returns a user-visible title.
    func title(of drawing: Drawing) -> String {
        switch self {
        case .createShape(let kind, let colour): "Drawing a \(colour.rawValue) \(kind.rawValue)"
        case .editShape(_, let shape): "Changing a \(shape.kind.rawValue) of \(drawing.title)"
        case .editDocumentProperties: "Properties of \(drawing.title)"
        }
    }
}
