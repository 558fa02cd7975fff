import Foundation

/// What the user is doing with the drawing: as values, and as the `userInfo` of an activity, which has a version.
///
/// What is in an activity is the engagement alone. The drawing itself goes over a stream.
enum Editing: Equatable, Sendable {
    /// Choosing where a new shape goes.
    case createShape(Shape.Kind, Shape.Colour)
    /// Changing a shape of the drawing, counted from 1; as it is by now.
    case editShape(number: Int, Shape)
    /// Changing title and author.
    case editDocumentProperties

    /// The types of the activities.
    enum ActivityType {
        static let createShape = "com.example.shapes.create-shape"
        static let editShape = "com.example.shapes.edit-shape"
        static let editDocumentProperties = "com.example.shapes.edit-document-properties"

        /// All of them.
        static let all = [createShape, editShape, editDocumentProperties]
    }

    /// The version of `userInfo` that is written. Version 1 had no colours, and one size for width and height.
    static let version = 2

    /// The members of `userInfo`.
    enum Key {
        static let version = "activity-version"
        static let shapeType = "shape-type"
        static let colour = "colour"
        static let shape = "shape"
        static let x = "x"
        static let y = "y"
        static let width = "width"
        static let height = "height"
        /// Of version 1.
        static let size = "size"
    }

    /// Why an activity cannot be continued here.
    enum Problem: Error, Equatable, CustomStringConvertible {
        /// It does not say its version.
        case noVersion
        /// A later version of the app has written it.
        case newer(Int)
        /// A member is missing, or is not what it should be.
        case member(String)
        /// It is of no type that this app has.
        case type(String)

        var description: String {
            switch self {
            case .noVersion: "the activity does not say its version"
            case .newer(let version):
                "the activity is of version \(version), and this Shapes reads up to version \(Editing.version): "
                    + "update Shapes on this device"
            case .member(let key): "the activity has no usable '\(key)'"
            case .type(let type): "Shapes has no activity of the type \(type)"
            }
        }
    }

    /// Reads what an activity says, of this version or an earlier one.
    /// - Throws: why it cannot be continued.
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

    /// The type of its activity.
    var activityType: String {
        switch self {
        case .createShape: ActivityType.createShape
        case .editShape: ActivityType.editShape
        case .editDocumentProperties: ActivityType.editDocumentProperties
        }
    }

    /// What its activity says.
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

    /// The members without which it cannot be continued.
    var requiredKeys: Set<String> { Set(userInfo.keys.compactMap { $0 as? String }) }

    /// Whether it is about the drawing, so that the other device needs that, too.
    var needsDrawing: Bool {
        if case .createShape = self { false } else { true }
    }

    /// What the user is doing, in words.
    func title(of drawing: Drawing) -> String {
        switch self {
        case .createShape(let kind, let colour): "Drawing a \(colour.rawValue) \(kind.rawValue)"
        case .editShape(_, let shape): "Changing a \(shape.kind.rawValue) of \(drawing.title)"
        case .editDocumentProperties: "Properties of \(drawing.title)"
        }
    }
}
