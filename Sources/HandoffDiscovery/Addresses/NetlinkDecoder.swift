import CLinux
package import HandoffModel
package import LoopIO

/// Decodes the kernel's rtnetlink(7) messages: host byte order, every part padded to four bytes.
package enum NetlinkDecoder {
    /// Returns the changes in one datagram. Truncated and unknown parts are skipped.
    package static func decode(_ datagram: ArraySlice<UInt8>) -> [InterfaceChange] {
        var changes: [InterfaceChange] = []
        var rest = datagram
        // struct nlmsghdr: u32 length, u16 type, u16 flags, u32 sequence, u32 port.
        while let length = rest.u32(at: 0), length >= 16, length <= rest.count,
            let type = rest.u16(at: 4), let sequence = rest.u32(at: 8)
        {
            let body = rest.prefix(Int(length)).dropFirst(16)
            if let change = change(type: Int(type), sequence: sequence, body: body) { changes.append(change) }
            rest = rest.dropFirst(padded(Int(length)))
        }
        return changes
    }

    private static func change(type: Int, sequence: UInt32, body: ArraySlice<UInt8>) -> InterfaceChange? {
        switch type {
        case clinux_netlink_done:
            return .done(sequence: sequence)
        case clinux_netlink_error:
            // struct nlmsgerr: the negated errno (0: an acknowledgement), then the request.
            guard let code = body.u32(at: 0), code != 0 else { return nil }
            return .refused(0 &- Int32(bitPattern: code), sequence: sequence)
        case clinux_netlink_new_link, clinux_netlink_del_link:
            return link(body, isGone: type == clinux_netlink_del_link)
        case clinux_netlink_new_addr, clinux_netlink_del_addr:
            return address(body, isGone: type == clinux_netlink_del_addr)
        case clinux_netlink_new_route:
            return route(body)
        case clinux_netlink_new_neigh:
            return neighbour(body)
        default:
            return nil
        }
    }

    /// struct rtmsg: u8 family, u8 bits of the destination, u8 bits of the source, u8 service, u8
    /// table, u8 protocol, u8 scope, u8 type, u32 flags; then attributes. Accepts only default
    /// routes in the main table with one gateway.
    private static func route(_ body: ArraySlice<UInt8>) -> InterfaceChange? {
        let header = Array(body.prefix(12))
        // RT_TABLE_MAIN, RTN_UNICAST.
        guard header.count == 12, header[1] == 0, header[4] == 254, header[7] == 1 else { return nil }
        let attributes = attributes(body.dropFirst(12))
        // RTA_OIF, RTA_GATEWAY.
        guard let index = attributes[4]?.u32(at: 0),
            let gateway = attributes[5].flatMap({ IPAddress(bytes: Array($0)) })
        else { return nil }
        return .gateway(gateway, interface: index)
    }

    /// struct ndmsg: u8 family, 3 bytes of padding, i32 index, u16 state, u8 flags, u8 type; then
    /// attributes.
    private static func neighbour(_ body: ArraySlice<UInt8>) -> InterfaceChange? {
        guard let index = body.u32(at: 4) else { return nil }
        let attributes = attributes(body.dropFirst(12))
        // NDA_DST, NDA_LLADDR.
        guard let address = attributes[1].flatMap({ IPAddress(bytes: Array($0)) }),
            let hardware = attributes[2].flatMap({ HardwareAddress(bytes: Array($0)) })
        else { return nil }
        return .neighbour(address, hardware, interface: index)
    }

    /// struct ifinfomsg: u8 family, u8 padding, u16 type, i32 index, u32 flags, u32 change; then
    /// attributes.
    private static func link(_ body: ArraySlice<UInt8>, isGone: Bool) -> InterfaceChange? {
        // A bridge reports its ports in messages of its own family. The removal of a port does not
        // remove a link.
        guard body.first == 0, let index = body.u32(at: 4), let flags = body.u32(at: 8) else { return nil }
        if isGone { return .linkGone(index: index) }
        // IFLA_IFNAME is a C string.
        guard let name = attributes(body.dropFirst(16))[3] else { return nil }
        return .link(index: index, name: String(decoding: name.prefix { $0 != 0 }, as: UTF8.self), flags: flags)
    }

    /// struct ifaddrmsg: u8 family, u8 prefix length, u8 flags, u8 scope, u32 index; then
    /// attributes.
    private static func address(_ body: ArraySlice<UInt8>, isGone: Bool) -> InterfaceChange? {
        let header = Array(body.prefix(8))
        guard header.count == 8, let index = body.u32(at: 4) else { return nil }
        let attributes = attributes(body.dropFirst(8))
        // IFA_LOCAL is this machine's address on point-to-point links. IFA_ADDRESS is it elsewhere.
        guard let bytes = attributes[2] ?? attributes[1], let address = IPAddress(bytes: Array(bytes)) else {
            return nil
        }
        let local = LocalAddress(interface: index, address: address, prefixLength: Int(header[1]))
        // IFA_FLAGS has all 32 bits; the header has room for only eight.
        return isGone
            ? .addressGone(local) : .address(local, flags: attributes[8]?.u32(at: 0) ?? UInt32(header[2]))
    }

    /// struct rtattr: u16 length including this header, u16 type, then the value. The last one of a
    /// type is used.
    private static func attributes(_ bytes: ArraySlice<UInt8>) -> [UInt16: ArraySlice<UInt8>] {
        var found: [UInt16: ArraySlice<UInt8>] = [:]
        var rest = bytes
        while let length = rest.u16(at: 0), let type = rest.u16(at: 2), length >= 4, length <= rest.count {
            found[type & 0x3fff] = rest.prefix(Int(length)).dropFirst(4)
            rest = rest.dropFirst(padded(Int(length)))
        }
        return found
    }

    private static func padded(_ length: Int) -> Int { (length + 3) & ~3 }
}

extension ArraySlice<UInt8> {
    /// Returns the two bytes at `offset` in host byte order, on little-endian and big-endian
    /// machines.
    fileprivate func u16(at offset: Int) -> UInt16? {
        guard count >= offset + 2 else { return nil }
        let low = UInt16(self[startIndex + offset])
        let high = UInt16(self[startIndex + offset + 1])
        return UInt16(littleEndian: 1) == 1 ? low | high << 8 : low << 8 | high
    }

    fileprivate func u32(at offset: Int) -> UInt32? {
        guard let first = u16(at: offset), let second = u16(at: offset + 2) else { return nil }
        return UInt16(littleEndian: 1) == 1
            ? UInt32(first) | UInt32(second) << 16 : UInt32(first) << 16 | UInt32(second)
    }
}

/// One rtnetlink(7) message, limited to the parts that discovery uses.
package enum InterfaceChange: Equatable, Sendable {
    /// A link was added or changed, with its `IFF_…` flags.
    case link(index: UInt32, name: String, flags: UInt32)
    /// A link was removed, together with its addresses.
    case linkGone(index: UInt32)
    /// An address was added or changed, with its `IFA_F_…` flags.
    case address(LocalAddress, flags: UInt32)
    /// An address was removed.
    case addressGone(LocalAddress)
    /// A default route leads over this gateway.
    case gateway(IPAddress, interface: UInt32)
    /// A host on a link has this link-layer address.
    case neighbour(IPAddress, HardwareAddress, interface: UInt32)
    /// The end of the reply to a dump.
    case done(sequence: UInt32)
    /// The kernel rejected a request. The value is the positive errno.
    case refused(Int32, sequence: UInt32)
}
