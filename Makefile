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

# ---- what there is --------------------------------------------------------------------------------------------------
ROOMS    := common/base common/conv common/cuda common/simt common/timing
# runtime.c needs the toolkit's headers and goes into the runner; *_call.c are picked one by one.
APART    := common/cuda/runtime.c $(wildcard common/conv/*_call.c)
LIB_SRC  := $(filter-out $(APART) $(wildcard $(ROOMS:%=%/test_*.c)) $(wildcard $(ROOMS:%=%/bench_*.c)) $(wildcard $(ROOMS:%=%/fuzz_*.c)),$(wildcard $(ROOMS:%=%/*.c)))
LIB_OBJ  := $(LIB_SRC:%.c=$(BUILD)/obj/%.o)
LIB      := $(BUILD)/libconvlab.a

MAIN_SRC := autograder/grade.c autograder/device.c autograder/runner.c autograder/run.c autograder/lab.c
GRD_SRC  := $(filter-out $(MAIN_SRC) $(wildcard autograder/test_*.c) $(wildcard autograder/fuzz_*.c),$(wildcard autograder/*.c))
GRD_OBJ  := $(GRD_SRC:%.c=$(BUILD)/obj/%.o)
GRD      := $(BUILD)/libgrader.a

TEST_SRC := $(wildcard $(ROOMS:%=%/test_*.c)) $(wildcard autograder/test_*.c)
TESTS    := $(TEST_SRC:%.c=$(BUILD)/tests/%)

# ---- objects, libraries, programs ------------------------------------------------------------------------------------
$(BUILD)/obj/%.o: %.c
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(DEPS) -c $< -o $@

# The interpreter's inner loops want the optimiser's best.
$(BUILD)/obj/common/simt/%.o: CFLAGS += -O3
# The only files that see the toolkit's headers.
$(BUILD)/obj/common/cuda/runtime.o $(BUILD)/obj/common/conv/%_call.o: CPPFLAGS += -isystem $(CUDA_INCLUDE)

$(LIB): $(LIB_OBJ)
	$(call say,AR,$@)
	$(Q)rm -f $@ && ar rcs $@ $^

$(GRD): $(GRD_OBJ)
	$(call say,AR,$@)
	$(Q)rm -f $@ && ar rcs $@ $^

$(BUILD)/bin/%: $(BUILD)/obj/autograder/%.o $(GRD) $(LIB)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) $< $(GRD) $(LIB) $(LDLIBS) -o $@

$(BUILD)/tests/%: $(BUILD)/obj/%.o $(GRD) $(LIB)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) $< $(filter $(GRD),$^) $(LIB) $(LDLIBS) -lcmocka -o $@

.SECONDARY:
-include $(shell find $(BUILD)/obj -name '*.d' 2>/dev/null)
