import Foundation
import HandoffKit
import Testing

@Suite struct UserInfoTests {
    private let activity = NSUserActivity(activityType: "com.example.editing")

    private func roundTrip(_ value: Any) -> Any? {
        activity.userInfo = ["value": value]
        return activity.userInfo?["value"]
    }

    @Test func `numbers keep their kind`() throws {
        let kinds: [(Any, String)] = [
            (true, "c"), (false, "c"), (1, "q"), (Int.min, "q"), (UInt64.max, "Q"), (1.0, "d"), (Float(0.1), "d"),
            (CGFloat(2), "d"), (NSNumber(value: true), "c"), (NSNumber(value: 7), "q"), (NSNumber(value: 7.5), "d"),
            (UInt8(3), "q"), (Int8(-5), "q"), (Int8(1), "q"), (NSNumber(value: Int8(-5)), "q"), (CChar(0), "q"),
        ]
        for (value, kind) in kinds {
            let number = try #require(roundTrip(value) as? NSNumber)
            // Foundation returns "i" for small integers.
            #expect(String(cString: number.objCType).replacing("i", with: "q") == kind, "\(value)")
            if let value = value as? NSNumber { #expect(number == value) }
        }
        #expect(roundTrip(UInt64.max) as? UInt64 == .max)
        #expect(roundTrip(Int.min) as? Int == .min)
        #expect((roundTrip(-0.0) as? Double)?.sign == .minus)
        #expect((roundTrip(Double.nan) as? Double)?.isNaN == true)
        #expect(roundTrip(1) as? Double == 1, "an integer is read as a real where it fits, as on Apple's systems")
    }

    @Test func `every type is read back`() {
        let date = Date(timeIntervalSinceReferenceDate: 700_000_000.1)
        let uuid = UUID()
        #expect(roundTrip("text") as? String == "text")
        #expect(roundTrip(Data([0, 255])) as? Data == Data([0, 255]))
        #expect(roundTrip(date) as? Date == date)
        #expect(roundTrip(URL(fileURLWithPath: "/tmp/a b")) as? URL == URL(fileURLWithPath: "/tmp/a b"))
        #expect(roundTrip(uuid) as? UUID == uuid)
        #expect(roundTrip(NSNull()) is NSNull)
        #expect(roundTrip([1, 2]) as? [Int] == [1, 2])
        #expect(roundTrip(Set([1, 2])) as? Set<Int> == [1, 2])
        #expect(roundTrip(["a": ["b": 1]]) as? [String: [String: Int]] == ["a": ["b": 1]])
        #expect(roundTrip([1: "one", 2: "two"] as [Int: String]) as? [Int: String] == [1: "one", 2: "two"])
    }

    @Test func `Objective-C classes are accepted`() {
        #expect(roundTrip(NSString(string: "text")) as? String == "text")
        #expect(roundTrip(NSData(data: Data([1]))) as? Data == Data([1]))
        #expect(roundTrip(NSArray(array: [1, "b"])) as? [AnyHashable] == [1, "b"])
        #expect(roundTrip(NSDictionary(dictionary: ["a": 1])) as? [String: Int] == ["a": 1])
        #expect(roundTrip(NSSet(array: [1])) as? Set<Int> == [1])
        let date = Date(timeIntervalSinceReferenceDate: 5)
        #expect(roundTrip(NSDate(timeIntervalSinceReferenceDate: 5)) as? Date == date)
        #expect(roundTrip(NSUUID()) is UUID)
    }

    @Test func `numbers are found as keys and in sets`() throws {
        activity.userInfo = [
            1: "one", -7: "minus", 2.5: "half", true: "yes", UInt64.max: "large", NSNumber(value: 3): "three",
        ]
        let userInfo = try #require(activity.userInfo)
        #expect(userInfo.count == 6)
        #expect(
            userInfo[1] as? String == "one" && userInfo[-7] as? String == "minus" && userInfo[3] as? String == "three")
        #expect(userInfo[UInt8(1)] as? String == "one", "regardless of the type of the number")
        #expect(userInfo[2.5] as? String == "half" && userInfo[true] as? String == "yes")
        #expect(userInfo[UInt64.max] as? String == "large")
        activity.addUserInfoEntries(from: [1: "other"])
        #expect(activity.userInfo?.count == 6 && activity.userInfo?[1] as? String == "other")
        let set = try #require(roundTrip([1, "text", false, 2.5] as Set<AnyHashable>) as? Set<AnyHashable>)
        #expect(set == [1, "text", false, 2.5])
        for element in [1, "text", false, 2.5] as [AnyHashable] { #expect(set.contains(element)) }
        #expect(roundTrip([0.5, 1] as Set<Double>) as? Set<Double> == [0.5, 1])
        #expect((roundTrip(["in": [4: "four"]]) as? [String: [Int: String]])?["in"]?[4] == "four")
    }

    @Test func `a relative URL becomes absolute`() throws {
        let url = try #require(URL(string: "page?a=1", relativeTo: URL(string: "https://example.org/book/")))
        let back = try #require(roundTrip(url) as? URL)
        #expect(back.absoluteString == "https://example.org/book/page?a=1" && back.baseURL == nil)
    }

    @Test func `containers in sets and keys are read back as objects`() {
        let set = roundTrip([["a": 1]] as Set<[String: Int]>) as? Set<AnyHashable>
        #expect(set == [NSDictionary(dictionary: ["a": 1])])
        activity.userInfo = [[1, 2]: "list"]
        #expect(activity.userInfo?[NSArray(array: [1, 2])] as? String == "list")
    }

    @Test func `an optional without a value is null`() {
        let none: String? = nil
        #expect(roundTrip(none as Any) is NSNull)
        #expect(roundTrip(Optional("a") as Any) as? String == "a")
    }

    @Test func `a wrong type is reported with its path`() {
        struct Own {}
        #expect(throws: Never.self) { try NSUserActivity.check(userInfo: ["a": [1, "b", NSNull()] as [Any]]) }
        for (wrong, path) in [
            (["own": Own()] as [AnyHashable: Any], "userInfo.own"),
            (["list": [1, Own()] as [Any]], "userInfo.list.1"),
        ] {
            let error = #expect(throws: NSError.self) { try NSUserActivity.check(userInfo: wrong) }
            #expect(error?.domain == NSCocoaErrorDomain)
            #expect(error?.code == NSUserActivityHandoffFailedError)
            #expect(error?.localizedDescription.hasPrefix("\(path): ") == true, "\(String(describing: error))")
        }
    }

    @Test func `deep nesting is refused`() {
        var value: Any = 1
        for _ in 0..<200 { value = [value] }
        #expect(throws: NSError.self) { try NSUserActivity.check(userInfo: ["deep": value]) }
        var less: Any = 1
        for _ in 0..<30 { less = [less] }
        #expect(throws: NSError.self) { try NSUserActivity.check(userInfo: ["deep": less]) }
    }

    @Test func `entries are merged and new values replace existing ones`() {
        activity.userInfo = ["a": 1, "b": 2]
        activity.needsSave = false
        activity.addUserInfoEntries(from: ["b": 3, "c": 4])
        #expect(activity.userInfo as? [String: Int] == ["a": 1, "b": 3, "c": 4])
        #expect(!activity.needsSave)
    }

    @Test func `the value is copied`() {
        let list = NSMutableArray(array: [1])
        activity.userInfo = ["list": list]
        list.add(2)
        #expect(activity.userInfo?["list"] as? [Int] == [1])
    }

    // MARK: Typed payloads

    private struct Place: Codable, Equatable {
        enum Kind: String, Codable { case shelf, table }

        struct Mark: Codable, Equatable {
            var line: Int8
            var colour: String?
        }

        var productID: Int
        var note: String?
        var isNew = true
        var price = 1.5
        var share: Float = 0.1
        var seen = Date(timeIntervalSinceReferenceDate: 700_000_000.1)
        var page = URL(string: "https://example.org/")
        var id = UUID()
        var thumbnail = Data([0, 255])
        var kind = Kind.table
        var marks = [Mark(line: -5, colour: nil), Mark(line: 7, colour: "red")]
        var names = ["a": 1, "b": 2]
        var byNumber = [1: "one", -2: "minus"]
        var tags: Set<String> = ["x", "y"]
        var largest = UInt64.max
        var gaps: [Int?] = [1, nil, 3]

        enum CodingKeys: String, CodingKey {
            case productID, note, isNew, price, share, seen, page, id, thumbnail, kind, marks, names, byNumber, tags,
                largest
            case gaps = "holes"
        }
    }

    @Test func `a typed payload is read back`() throws {
        activity.userInfo = ["other": 1]
        let place = Place(productID: 3, note: "x")
        try activity.setTypedPayload(place)
        #expect(try activity.typedPayload(Place.self) == place)
        #expect(activity.userInfo?["other"] as? Int == 1)
        try activity.setTypedPayload(Place(productID: 4))
        #expect(try activity.typedPayload(Place.self).note == nil, "members of the former payload are removed")
        #expect(activity.userInfo?["other"] as? Int == 1)
    }

    @Test func `a typed payload has the coding keys in user info`() throws {
        let place = Place(productID: 3)
        try activity.setTypedPayload(place)
        let userInfo = try #require(activity.userInfo)
        #expect(userInfo["productID"] as? Int == 3 && userInfo["isNew"] as? Bool == true && userInfo["note"] == nil)
        #expect(userInfo["seen"] as? Date == place.seen && userInfo["page"] as? URL == place.page)
        #expect(userInfo["id"] as? UUID == place.id && userInfo["thumbnail"] as? Data == place.thumbnail)
        #expect(userInfo["kind"] as? String == "table" && userInfo["largest"] as? UInt64 == .max)
        #expect((userInfo["marks"] as? [[String: Any]])?.last?["colour"] as? String == "red")
        #expect(userInfo["holes"] as? [AnyHashable] == [1, NSNull(), 3] as [AnyHashable])
    }

    @Test func `a dictionary written by hand is a typed payload`() throws {
        struct Product: Codable, Equatable {
            var productID: Int
            var price: Double
            var page: URL?
            var id: UUID?
            var sizes: [UInt16]
        }
        let id = UUID()
        activity.userInfo = [
            "productID": 3.0, "price": 2, "page": "https://example.org/", "id": id.uuidString, "sizes": Set([7]),
            "version": 1,
        ]
        #expect(
            try activity.typedPayload(Product.self)
                == Product(productID: 3, price: 2, page: URL(string: "https://example.org/"), id: id, sizes: [7]))
    }

    private class Base: Codable {
        var base = 1
    }

    private final class Derived: Base {
        var derived = "d"

        enum CodingKeys: CodingKey { case derived, list, inner }

        override init() { super.init() }

        required init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            derived = try container.decode(String.self, forKey: .derived)
            var list = try container.nestedUnkeyedContainer(forKey: .list)
            _ = try list.decode(Int.self)
            #expect(try list.decodeNil() && list.isAtEnd)
            let inner = try container.nestedContainer(keyedBy: CodingKeys.self, forKey: .inner)
            #expect(inner.allKeys == [.derived])
            try super.init(from: container.superDecoder())
        }

        override func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(derived, forKey: .derived)
            var list = container.nestedUnkeyedContainer(forKey: .list)
            try list.encode(1)
            try list.encodeNil()
            var inner = container.nestedContainer(keyedBy: CodingKeys.self, forKey: .inner)
            try inner.encode(true, forKey: .derived)
            try super.encode(to: container.superEncoder())
        }
    }

    @Test func `a class with a superclass is read back`() throws {
        let value = Derived()
        value.base = 7
        try activity.setTypedPayload(value)
        let back = try activity.typedPayload(Derived.self)
        #expect(back.base == 7 && back.derived == "d")
        #expect((activity.userInfo?["super"] as? [String: Int]) == ["base": 7])
    }

    @Test func `only a dictionary is a typed payload`() throws {
        typealias PayloadError = NSUserActivity.TypedPayloadError
        #expect(throws: PayloadError.invalidContent) { try activity.typedPayload(Place.self) }
        #expect(throws: PayloadError.encodingError) { try activity.setTypedPayload(3) }
        #expect(throws: PayloadError.encodingError) { try activity.setTypedPayload([1, 2]) }
        #expect(throws: PayloadError.encodingError) { try activity.setTypedPayload(Date()) }
        #expect(throws: PayloadError.encodingError) { try activity.setTypedPayload(Place?.none) }
        #expect(throws: PayloadError.encodingError) {
            try activity.setTypedPayload(["at": Date(timeIntervalSince1970: .nan)])
        }
        #expect(activity.userInfo?.isEmpty == true)
        activity.userInfo = ["productID": "three"]
        #expect(throws: PayloadError.invalidContent) { try activity.typedPayload(Place.self) }
        #expect(throws: PayloadError.invalidContent) { try activity.typedPayload([Int].self) }
        struct Small: Codable { var productID: UInt8 }
        for wrong in [300, -1, 1.5, true, "1"] as [Any] {
            activity.userInfo = ["productID": wrong]
            #expect(throws: PayloadError.invalidContent) { try activity.typedPayload(Small.self) }
        }
    }
}
