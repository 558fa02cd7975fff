#include "CLinuxMemory.h"

#include <link.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

/// Returns 1 if the loader has written to code or constants of an object (text relocations). Its
/// pages must not be discarded.
static int writes_text(const struct dl_phdr_info *object) {
    for (int index = 0; index < object->dlpi_phnum; index++) {
        if (object->dlpi_phdr[index].p_type != PT_DYNAMIC) continue;
        const ElfW(Dyn) *entry = (const ElfW(Dyn) *)(object->dlpi_addr + object->dlpi_phdr[index].p_vaddr);
        for (; entry->d_tag != DT_NULL; entry++) {
            if (entry->d_tag == DT_TEXTREL) return 1;
            if (entry->d_tag == DT_FLAGS && (entry->d_un.d_val & DF_TEXTREL)) return 1;
        }
    }
    return 0;
}

/// Called by the loader for each mapped object. Adds the number of discarded bytes to `context`.
static int forget_object(struct dl_phdr_info *object, size_t size, void *context) {
    (void)size;
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t kernels = (uintptr_t)getauxval(AT_SYSINFO_EHDR);
    size_t *forgotten = context;
    // The kernel's own object (vdso) has no file.
    if (kernels != 0 && object->dlpi_addr == kernels) return 0;
    if (writes_text(object)) return 0;
    for (int index = 0; index < object->dlpi_phnum; index++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[index];
        // RELRO data, which is written at the start and read-only afterwards, is in segments whose
        // headers are writable.
        if (segment->p_type != PT_LOAD || (segment->p_flags & PF_W)) continue;
        // Whole pages only: the first and the last page may be shared with another segment.
        uintptr_t begin = (object->dlpi_addr + segment->p_vaddr + page - 1) & ~(page - 1);
        uintptr_t end = (object->dlpi_addr + segment->p_vaddr + segment->p_filesz) & ~(page - 1);
        if (begin < end && madvise((void *)begin, end - begin, MADV_DONTNEED) == 0) *forgotten += end - begin;
    }
    return 0;
}

size_t clinux_unmap_programs(void) {
    size_t forgotten = 0;
    dl_iterate_phdr(forget_object, &forgotten);
    return forgotten;
}
