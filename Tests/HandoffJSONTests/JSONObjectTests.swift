import HandoffJSON
import Testing

struct JSONObjectTests {
    @Test func `setting a value replaces in place, appends or removes`() {
        var object: JSONObject = ["a": 1, "b": 2]
        object["a"] = 3
        object["c"] = 4
        object["b"] = nil
        object["missing"] = nil
        #expect(object.keys == ["a", "c"])
        #expect(object["a"] == 3)
        #expect(object["b"] == nil)
        #expect(object.first?.key == "a")
    }

    @Test(arguments: [3, 16, 17, 18, 500])
    func `objects of any size find every key`(count: Int) {
        var object = JSONObject()
        for number in 0..<count { object["k\(number)"] = .integer(Int64(number)) }
        object["k1"] = nil
        object["k2"] = "replaced"
        #expect(object.count == count - 1)
        #expect(object["k0"] == 0)
        #expect(object["k1"] == nil)
        #expect(object["k2"] == "replaced")
        #expect(object["k\(count - 1)"] == (count == 3 ? "replaced" : .integer(Int64(count - 1))))
        #expect(object["other"] == nil)
        #expect(Array(object).count == object.count)
    }

    @Test(arguments: [2, 40])
    func `equality and hash ignore the order`(count: Int) {
        let members = (0..<count).map { ("k\($0)", JSON.integer(Int64($0))) }
        let forward = JSONObject(members)
        let backward = JSONObject(members.reversed())
        #expect(forward == backward)
        #expect(forward.hashValue == backward.hashValue)
        var other = backward
        other["k0"] = "x"
        #expect(forward != other)
        other["k0"] = nil
        #expect(forward != other)
    }

    @Test(arguments: [
        (JSON.integer(1), JSON.real(1)),
        (.real(0.0), .real(-0.0)),
        (.string("e\u{301}"), .string("\u{E9}")),
        (.object(["e\u{301}": 1]), .object(["\u{E9}": 1])),
        (.null, .bool(false)),
        (.array([]), .object([:])),
        (.string("1"), .integer(1)),
    ])
    func `different values are not equal`(left: JSON, right: JSON) {
        #expect(left != right)
        #expect(right != left)
        #expect(left == left)
        #expect(Set([left, right, left]).count == 2)
    }

    @Test func `accessors return only their own kind`() {
        #expect(JSON.integer(1).real == nil)
        #expect(JSON.real(1).integer == nil)
        #expect(JSON.integer(1).number == 1)
        #expect(JSON.real(1.5).number == 1.5)
        #expect(JSON.string("1").number == nil)
        #expect(JSON.bool(true).integer == nil)
        #expect(JSON.null.isNull)
        #expect(JSON.string("a").string == "a")
        #expect(JSON.array([1]).array == [1])
        #expect(JSON.object(["a": 1]).object == ["a": 1])
    }
}
