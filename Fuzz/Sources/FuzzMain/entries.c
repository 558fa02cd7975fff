// The entry points of the fuzzers, for builds without --sanitize fuzzer. The package manager then renames the `main` of each
// executable to TARGET_main, and libFuzzer's own `main` is not linked.
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);
// Of libFuzzer (compiler-rt/include/fuzzer/FuzzerInterface.h).
int LLVMFuzzerRunDriver(int *count, char ***words, int (*test)(const uint8_t *bytes, size_t count));

#define ENTRY(target) \
    int target##_main(int count, char **words) { return LLVMFuzzerRunDriver(&count, &words, LLVMFuzzerTestOneInput); }
ENTRY(FuzzAnnouncement)
ENTRY(FuzzBrowser)
ENTRY(FuzzBus)
ENTRY(FuzzConfiguration)
ENTRY(FuzzControl)
ENTRY(FuzzDiscovery)
ENTRY(FuzzDocuments)
ENTRY(FuzzFiles)
ENTRY(FuzzFrame)
ENTRY(FuzzGate)
ENTRY(FuzzHandlers)
ENTRY(FuzzJSON)
ENTRY(FuzzKept)
ENTRY(FuzzPairing)
ENTRY(FuzzReplies)
ENTRY(FuzzRoster)
ENTRY(FuzzSessions)
ENTRY(FuzzState)
ENTRY(FuzzStream)
ENTRY(FuzzTransfer)
