# Make targets that call the scripts.
#
#   make                        builds handoffd and handoffctl
#   make install                installs into /usr/local; PREFIX=, DESTDIR= and SYSCONFDIR= change that
#   make uninstall              uninstalls, keeping changed settings
#   make deb                    builds a Debian package in .build/deb
#   make check                  runs the quick gate (scripts/test is the full one)
#
#   make debug                  builds all programs for debugging, in .build/quick/debug
#   make run                    the same, and runs two devices of one account on this machine
#   make test [TEST=EXPRESSION] [SANITIZE=thread|address]
#                               runs all unit and component tests, or those whose names match the regular expression

PREFIX ?= /usr/local
SYSCONFDIR ?= /etc
BROWSERDIR ?= /usr
DESTDIR ?=
export PREFIX SYSCONFDIR BROWSERDIR DESTDIR

.PHONY: all install uninstall deb check debug run test clean

all:
	@scripts/build

# Does not build, so that 'sudo make install' leaves no files of root in the checkout.
install:
	@scripts/install

uninstall:
	@scripts/install --uninstall

deb:
	@scripts/deb

check:
	@scripts/test --quick

debug:
	@swift build --scratch-path .build/quick

run: debug
	@HANDOFF_BIN=$(CURDIR)/.build/quick/debug packaging/handoff-try $(CURDIR)/.build/quick/debug/handoffctl

# A sanitizer has a build folder of its own. It needs far less to be built without the test targets that TEST does not name.
test_folder := .build/$(if $(SANITIZE),debug-$(SANITIZE),quick)
ifneq ($(SANITIZE),)
test_target := $(filter %Tests,$(firstword $(subst ., ,$(subst \,,$(TEST)))))
test: export HANDOFF_WITHOUT = $(if $(test_target),$(filter-out $(test_target),$(notdir $(wildcard Tests/*Tests))))
test: export SWIFT_BACKTRACE = enable=no
test: export TSAN_OPTIONS = suppressions=$(CURDIR)/Tests/thread-sanitizer.txt
test: export ASAN_OPTIONS = detect_leaks=0 detect_stack_use_after_return=0
# Package.swift selects the targets that a sanitizer instruments.
test: export HANDOFF_SANITIZER = $(SANITIZE)
endif
test:
ifeq ($(TEST)$(SANITIZE),)
	@scripts/test tests
else
	@swift build --product handoffPackageTests --scratch-path $(test_folder)
	@$(test_folder)/debug/handoffPackageTests.xctest --testing-library swift-testing --no-parallel $(if $(TEST),--filter '$(TEST)')
endif

clean:
	rm -rf .build
