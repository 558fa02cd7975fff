# Make targets that call the scripts.
#
#   make                        builds handoffd and handoffctl
#   make install                installs into /usr/local; PREFIX=, DESTDIR= and SYSCONFDIR= change that
#   make uninstall              uninstalls, keeping changed settings
#   make deb                    builds a Debian package in .build/deb
#   make check                  runs the quick gate (scripts/test is the full one)

PREFIX ?= /usr/local
SYSCONFDIR ?= /etc
BROWSERDIR ?= /usr
DESTDIR ?=
export PREFIX SYSCONFDIR BROWSERDIR DESTDIR

.PHONY: all install uninstall deb check clean

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

clean:
	rm -rf .build
