# Tools, compiler flags, and the targets that concern this machine.

ifneq ($(filter-out help labs clean,$(or $(MAKECMDGOALS),labs)),)
include $(BUILD)/toolchain.env
endif

# setup.sh leaves the file unchanged if the tools are the same.  Make starts again only when the file
# has changed.
.PHONY: always
$(BUILD)/toolchain.env: always
	$(Q)NVCC="$$CHOSEN_NVCC" CC="$$CHOSEN_CC" CXX="$$CHOSEN_CXX" sh common/setup/setup.sh "$$BUILD"

# Other compilers have other warnings, which must not break a user's build.  Warnings are errors only
# in CI (CI is set) and with STRICT=1.
WARN     := -Wall -Wextra $(if $(CI)$(STRICT),-Werror)
CPPFLAGS += -I. -Icommon/include -D_GNU_SOURCE
# Without -g, because names and lines would make compilation a tenth slower
# (docs/developer/contributing.md).
DEFAULT_FLAGS := $(if $(CFLAGS),,yes)
CFLAGS   ?= -O2
CFLAGS   += -std=c11 -ffp-contract=off -fPIC $(WARN) $(SANITIZE)
LDFLAGS  += $(SANITIZE)
LDLIBS   := -ljansson -linih -lzstd -llz4 -lseccomp -lmd -lmuparser -lsodium -ldl -lpthread -lm
# Recipes read these.  The shell splits them at spaces and executes nothing in them.
export COMPILE_FLAGS = $(CPPFLAGS) $(CFLAGS) -MMD -MP
export LINK_FLAGS    = $(LINKER) $(LDFLAGS)
export LINK_LIBS     = $(LDLIBS)

#:   make setup                  find or install missing tools
#:   make doctor                 capabilities of this machine
#:   make update FROM=dir
#:                       in a student's copy: the next release, merged with your
#:                       work
#:   make compile-commands       compile_commands.json, for your editor
#:                       (docs/student/editors.md)
#:   make clean                  remove build/
#:
.PHONY: setup doctor compile-commands clean
QUIET_TARGETS += update

setup: $(BUILD)/toolchain.env
	@:

doctor:
	$(call stage,$(BUILD)/bin/doctor)
	$(Q)$(BUILD)/bin/doctor $(where)

update-answer:
	$(Q)$(plus)mkdir -p "$$BUILD" && sh common/setup/update.sh "$$FROM"; $(save_status)

# An editor needs the options of every source.  Nothing is compiled; bear only records the commands.
# A student's copy has the labs' commands only.
compile-commands:
	$(call want,jq $(if $(COPY),,bear))
ifndef COPY
	$(Q)command -v bear >/dev/null || { echo 'compile-commands: no bear: sudo apt-get install bear' >&2; exit 1; }
	$(Q)CFLAGS=-fsyntax-only bear --output $(BUILD)/sources.json -- \
	    $(MAKE) -B -s -j"$$JOBS" BUILD=$(BUILD)/clangd NVCC="$$NVCC" CCACHE= objects >/dev/null
endif
	$(Q)sh common/setup/compile_commands.sh "$$BUILD" $(if $(COPY),,$(BUILD)/sources.json)

clean:
	$(Q)rm -rf $(BUILD)
