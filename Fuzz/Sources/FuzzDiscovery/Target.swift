import FuzzSupport
import HandoffDiscovery
import LoopIO

/// Discovery data from the network: names, texts and targets of records, the kernel's messages
/// about addresses, and records that appear and disappear in any order. The first byte selects one.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ pointer: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = Input(pointer, count)
    switch input.byte() % 4 {
    case 0: records(input.rest)
    case 1: netlink(&input)
    case 2: merge(&input)
    default: Network.play(&input)
    }
    return 0
}

/// The data read from a record is the same after it was written, and has no byte that another
/// program might misinterpret.
private func records(_ bytes: [UInt8]) {
    if let name = DomainName(wire: bytes[...]) {
        require(DomainName(wire: name.wire[...]) == name, "a name reads differently")
        require(DomainName(name.text) == name, "the text of a name is another name")
        require(name.wire.count == bytes.count, "a name changes its length")
        require(name.wire.count <= DomainName.maxByteCount, "a name is too long")
    }
    if let text = String(validating: bytes, as: UTF8.self), let name = DomainName(text) {
        require(DomainName(wire: name.wire[...]) == name, "a name reads differently from the wire")
        require(name.text.utf8.count == bytes.count, "the text of a name changes its length")
    }
    if let strings = TextData.decode(bytes) {
        guard let data = TextData.encode(strings) else { fatalError("texts that were read cannot be written") }
        require(TextData.decode(data) == strings, "texts read differently")
        require(data.count <= max(1, bytes.count), "texts grow by being read")
    }
    if let target = ServiceTarget(data: bytes) {
        require(ServiceTarget(data: target.data) == target, "a target reads differently")
        require(target.port != 0, "a target without a port")
    }
}

/// The kernel's messages. The second byte truncates the datagram: the result of a prefix is a
/// prefix of the whole result. The kernel may also repeat all messages.
private func netlink(_ input: inout Input) {
    let share = Int(input.byte())
    let bytes = input.rest
    let changes = NetlinkDecoder.decode(bytes[...])
    require(changes.count <= bytes.count / 16, "more changes than messages have room")
    let part = NetlinkDecoder.decode(bytes.prefix(bytes.count * share / 256))
    require(changes.starts(with: part), "a truncated datagram has another result")
    var once = InterfaceTable()
    for change in changes { once.apply(change) }
    var twice = once
    for change in changes { twice.apply(change) }
    require(twice == once, "a repeated message changes something")
    for address in once.usable {
        require(once.isUsable(address.interface), "an address of a link that is down is used")
        require(once.name(of: address.interface) != nil, "an address of no link is used")
        if address.prefixLength <= address.address.bytes.count * 8, address.prefixLength > 0 {
            require(once.isOnLink(address.address, on: address.interface), "an own address is not on its link")
        }
    }
    for index in once.usable.map(\.interface) {
        let foreign = IPAddress(bytes: [8, 8, 8, 8])
        if let foreign, !once.isOnLink(foreign, on: index) {
            require(!once.accepts(foreign, on: index), "an unknown host redirects this device")
        }
    }
}

/// Two implementations that know three instances. An instance has disappeared when neither knows
/// it, and data that one lacks is taken from the other.
private func merge(_ input: inout Input) {
    var services = MergedServices()
    var known: [String: Set<DiscoveryKind>] = [:]
    let kinds: [DiscoveryKind] = [.avahi, .embedded]
    while !input.isEmpty {
        let step = input.byte()
        let kind = kinds[Int(step & 1)]
        let name = "i\(step >> 1 & 3)"
        switch step >> 3 & 3 {
        case 0, 1:
            let address = IPAddress(bytes: [10, 0, 0, step]).map { SocketAddress($0, port: 80) }
            let service = DiscoveredService(
                instance: name, text: step & 0x20 == 0 ? nil : [[step]], port: step & 0x40 == 0 ? nil : 80,
                addresses: step & 0x40 == 0 ? [] : [address].compactMap { $0 })
            let merged = services.add(service, from: kind)
            require(merged.instance == name, "the wrong instance is reported")
            require(service.text == nil || merged.text == service.text, "the newest text is not used")
            require(
                service.addresses.isEmpty || merged.addresses == service.addresses, "the newest addresses do not count")
            require(merged.addresses.isEmpty || merged.port != nil, "addresses without a port")
            known[name, default: []].insert(kind)
        case 2:
            let wasLast = known[name] == [kind]
            known[name]?.remove(kind)
            if known[name]?.isEmpty == true { known[name] = nil }
            require(services.remove(name, from: kind) == wasLast, "an instance disappears too early, or remains")
        default:
            let expected = known.filter { $0.value == [kind] }.keys.sorted()
            require(services.drop(kind) == expected, "the wrong instances disappear")
            for name in known.keys { known[name]?.remove(kind) }
            known = known.filter { !$0.value.isEmpty }
        }
    }
}
