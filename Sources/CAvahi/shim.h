// libavahi-client, and libavahi-common with its poll loop.
//
// libavahi-client is loaded at run time and not linked. It and libavahi-core both export a function
// named avahi_entry_group_free, with different parameters. A program that links both calls the
// wrong one and crashes (github.com/avahi/avahi, issue 278). If they are loaded with RTLD_LOCAL,
// each library finds its own function. The program then also runs on machines without Avahi.
#pragma once
#include <avahi-client/client.h>
#include <avahi-client/lookup.h>
#include <avahi-client/publish.h>
#include <avahi-common/error.h>
#include <avahi-common/simple-watch.h>
#include <dlfcn.h>
#include <stddef.h>

/// The functions of libavahi-client that this program calls, named without `avahi_`.
struct cavahi_client {
    __typeof__(&avahi_client_new) _Nonnull client_new;
    __typeof__(&avahi_client_free) _Nonnull client_free;
    __typeof__(&avahi_client_errno) _Nonnull client_errno;
    __typeof__(&avahi_record_browser_new) _Nonnull record_browser_new;
    __typeof__(&avahi_record_browser_free) _Nonnull record_browser_free;
    __typeof__(&avahi_entry_group_new) _Nonnull entry_group_new;
    __typeof__(&avahi_entry_group_free) _Nonnull entry_group_free;
    __typeof__(&avahi_entry_group_commit) _Nonnull entry_group_commit;
    __typeof__(&avahi_entry_group_add_address) _Nonnull entry_group_add_address;
    __typeof__(&avahi_entry_group_add_record) _Nonnull entry_group_add_record;
};

/// Loads the library (once; it is never unloaded) and finds its functions. Returns 0 if it is not
/// installed.
static inline int cavahi_load_client(struct cavahi_client *_Nonnull functions) {
    void *library = dlopen("libavahi-client.so.3", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) return 0;
    int found = 1;
#define CAVAHI_FIND(name) found = found && (*(void **)&functions->name = dlsym(library, "avahi_" #name)) != NULL
    CAVAHI_FIND(client_new);
    CAVAHI_FIND(client_free);
    CAVAHI_FIND(client_errno);
    CAVAHI_FIND(record_browser_new);
    CAVAHI_FIND(record_browser_free);
    CAVAHI_FIND(entry_group_new);
    CAVAHI_FIND(entry_group_free);
    CAVAHI_FIND(entry_group_commit);
    CAVAHI_FIND(entry_group_add_address);
    CAVAHI_FIND(entry_group_add_record);
#undef CAVAHI_FIND
    return found;
}
