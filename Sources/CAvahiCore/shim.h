// libavahi-core, loaded at run time and not linked, for the reason in CAvahi's shim.h.
#pragma once
#include <avahi-common/error.h>
#include <avahi-common/malloc.h>
#include <avahi-common/strlst.h>
#include <avahi-core/core.h>
#include <avahi-core/log.h>
#include <avahi-core/lookup.h>
#include <avahi-core/publish.h>
#include <avahi-core/rr.h>
#include <dlfcn.h>
#include <stddef.h>

/// The functions of libavahi-core that this program calls, named without `avahi_`.
struct cavahicore {
    __typeof__(&avahi_set_log_function) _Nonnull set_log_function;
    __typeof__(&avahi_server_config_init) _Nonnull server_config_init;
    __typeof__(&avahi_server_config_free) _Nonnull server_config_free;
    __typeof__(&avahi_server_new) _Nonnull server_new;
    __typeof__(&avahi_server_free) _Nonnull server_free;
    __typeof__(&avahi_server_errno) _Nonnull server_errno;
    __typeof__(&avahi_server_add) _Nonnull server_add;
    __typeof__(&avahi_server_add_address) _Nonnull server_add_address;
    __typeof__(&avahi_s_entry_group_new) _Nonnull s_entry_group_new;
    __typeof__(&avahi_s_entry_group_free) _Nonnull s_entry_group_free;
    __typeof__(&avahi_s_entry_group_commit) _Nonnull s_entry_group_commit;
    __typeof__(&avahi_s_record_browser_new) _Nonnull s_record_browser_new;
    __typeof__(&avahi_s_record_browser_free) _Nonnull s_record_browser_free;
    __typeof__(&avahi_key_new) _Nonnull key_new;
    __typeof__(&avahi_key_unref) _Nonnull key_unref;
    __typeof__(&avahi_record_new_full) _Nonnull record_new_full;
    __typeof__(&avahi_record_unref) _Nonnull record_unref;
    __typeof__(&avahi_rdata_parse) _Nonnull rdata_parse;
    __typeof__(&avahi_rdata_serialize) _Nonnull rdata_serialize;
};

/// Loads the library (once; it is never unloaded) and finds its functions. Returns 0 if it is not
/// installed.
static inline int cavahicore_load(struct cavahicore *_Nonnull functions) {
    void *library = dlopen("libavahi-core.so.7", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) return 0;
    int found = 1;
#define CAVAHICORE_FIND(name) found = found && (*(void **)&functions->name = dlsym(library, "avahi_" #name)) != NULL
    CAVAHICORE_FIND(set_log_function);
    CAVAHICORE_FIND(server_config_init);
    CAVAHICORE_FIND(server_config_free);
    CAVAHICORE_FIND(server_new);
    CAVAHICORE_FIND(server_free);
    CAVAHICORE_FIND(server_errno);
    CAVAHICORE_FIND(server_add);
    CAVAHICORE_FIND(server_add_address);
    CAVAHICORE_FIND(s_entry_group_new);
    CAVAHICORE_FIND(s_entry_group_free);
    CAVAHICORE_FIND(s_entry_group_commit);
    CAVAHICORE_FIND(s_record_browser_new);
    CAVAHICORE_FIND(s_record_browser_free);
    CAVAHICORE_FIND(key_new);
    CAVAHICORE_FIND(key_unref);
    CAVAHICORE_FIND(record_new_full);
    CAVAHICORE_FIND(record_unref);
    CAVAHICORE_FIND(rdata_parse);
    CAVAHICORE_FIND(rdata_serialize);
#undef CAVAHICORE_FIND
    return found;
}
