# The front door.  `make` alone says what there is; V=1 shows the commands.

BUILD  ?= build
CC     ?= cc
CXX    ?= c++
PYTHON ?= python3

ifneq ($(V),1)
Q := @
say = @printf '  %-7s %s\n' '$(1)' '$(2)'
endif

# ---- flags ----------------------------------------------------------------------------------------------------------
WARN     := -Wall -Wextra -Werror
CPPFLAGS += -I. -Icommon/include -D_GNU_SOURCE
CFLAGS   ?= -O2 -g
CFLAGS   += -std=c11 -ffp-contract=off -fPIC $(WARN) $(SANITIZE)
LDFLAGS  += $(SANITIZE)
LDLIBS   := -ljansson -linih -lzstd -llz4 -lseccomp -ldl -lpthread -lm
DEPS      = -MMD -MP

# ---- the rooms, and which may use which ------------------------------------------------------------------------------
# One archive a room; the order of USES is the order on the linker's line.
USES_common/base   :=
USES_common/conv   := common/base
USES_common/simt   := common/base
USES_common/timing := common/base
USES_common/cuda   := common/simt common/base
USES_autograder    := common/conv common/timing common/cuda common/simt common/base
ROOMS := common/base common/conv common/simt common/timing common/cuda autograder

# runtime.c and the *_call.c need the toolkit's headers and go into the runner; these five are programs.
APART    := common/cuda/runtime.c $(wildcard common/conv/*_call.c)
PROGRAMS := grade device runner run lab
APART    += $(PROGRAMS:%=autograder/%.c) $(foreach r,$(ROOMS),$(wildcard $(r)/test_*.c $(r)/bench_*.c $(r)/fuzz_*.c))

source_of  = $(filter-out $(APART),$(wildcard $(1)/*.c))
archive_of = $(BUILD)/lib/$(notdir $(1)).a
TESTS     := $(patsubst %.c,$(BUILD)/tests/%,$(foreach r,$(ROOMS),$(wildcard $(r)/test_*.c)))

# ---- objects, libraries, programs ------------------------------------------------------------------------------------
$(BUILD)/obj/%.o: %.c
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(DEPS) -c $< -o $@

# The interpreter's inner loops want the optimiser's best.
$(BUILD)/obj/common/simt/%.o: CFLAGS += -O3
# The only files that see the toolkit's headers.
$(BUILD)/obj/common/cuda/runtime.o $(BUILD)/obj/common/conv/%_call.o: CPPFLAGS += -isystem $(CUDA_INCLUDE)

define room_rules
$(call archive_of,$(1)): $(patsubst %.c,$(BUILD)/obj/%.o,$(call source_of,$(1)))
	$$(call say,AR,$$@)
	@mkdir -p $$(@D)
	$$(Q)rm -f $$@ && ar rcs $$@ $$^

$(BUILD)/tests/$(1)/%: $(BUILD)/obj/$(1)/%.o $(foreach r,$(1) $(USES_$(1)),$(call archive_of,$(r)))
	$$(call say,LD,$$@)
	@mkdir -p $$(@D)
	$$(Q)$$(CC) $$(LDFLAGS) $$^ $$(LDLIBS) -lcmocka -o $$@
endef
$(foreach r,$(ROOMS),$(eval $(call room_rules,$(r))))

$(BUILD)/bin/%: $(BUILD)/obj/autograder/%.o $(foreach r,autograder $(USES_autograder),$(call archive_of,$(r)))
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) $^ $(LDLIBS) -o $@

.SECONDARY:
-include $(shell find $(BUILD)/obj -name '*.d' 2>/dev/null)
