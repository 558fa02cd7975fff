# A thin front to the scripts, for those who know make.
#
#   make                        builds handoffd and handoffctl
#   make install                into /usr/local; with PREFIX=, DESTDIR= and SYSCONFDIR= elsewhere
#   make uninstall              removes that again; changed settings stay
#   make deb                    a Debian package in .build/deb
#   make check                  the quick gate (scripts/test is the whole one)

PREFIX ?= /usr/local
SYSCONFDIR ?= /etc
BROWSERDIR ?= /usr
DESTDIR ?=
export PREFIX SYSCONFDIR BROWSERDIR DESTDIR

.PHONY: all install uninstall deb check clean

all:
	@scripts/build

# Does not build, so that 'sudo make install' leaves nothing of root's in the checkout.
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
