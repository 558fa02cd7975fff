import CAvahiCore
import HandoffDiscovery

extension AvahiServerConfig {
    /// Creates the configuration of a responder that publishes nothing on its own: no host name,
    /// addresses, workstation or hardware. Free it with avahi_server_config_free.
    init(_ options: DiscoveryOptions, _ functions: cavahicore) {
        self.init()
        _ = functions.server_config_init(&self)
        // Never use the machine's own name, not even in memory that might be published by mistake.
        avahi_free(host_name)
        host_name = avahi_strdup("handoff-\(UInt64.random(in: .min ... .max))")
        publish_addresses = 0
        publish_hinfo = 0
        publish_workstation = 0
        publish_domain = 0
        add_service_cookie = 0
        enable_reflector = 0
        enable_wide_area = 0
        // More than the gate admits during the lifetime of a record.
        n_cache_entries_max = PacketGate.memory
        // Coexist with other responders, such as an avahi-daemon that starts later.
        disallow_other_stacks = 0
        use_ipv4 = options.useIPv4 ? 1 : 0
        // Multicast over IPv6 does not work on the loopback interface.
        use_ipv6 = options.useIPv6 && !options.isLoopbackOnly ? 1 : 0
        // Publish both address families over both protocols, for devices that query on only one.
        publish_a_on_ipv6 = 1
        publish_aaaa_on_ipv4 = 1
        for name in options.interfaces { allow_interfaces = avahi_string_list_add(allow_interfaces, name) }
        if options.interfaces.isEmpty { deny_interfaces = avahi_string_list_add(deny_interfaces, "lo") }
    }
}
