# The front door.  `make` alone says where you stand, `make help` what there is; V=1 shows the
# commands; BUILD=dir builds elsewhere.
#
# Every target but help, labs and clean begins with setup, which writes what it found into
# build/toolchain.env (NVCC, CUDA_INCLUDE, CC, CXX, CCACHE).  That file is included here, so make
# reads itself again once setup has made it, and every recipe sees a compiler on the first call of a
# fresh clone.

#
# What the user says is text, in no language.  A folder may be called x';cmd;' or $(shell cmd): make
# expands neither, for the lines below take the values as they stand, and no recipe has a value in
# its text: it reads "$$SUBMISSION" from its environment, where GIVEN is.  autograder/tests/names
# tries such names.

GIVEN := BUILD ENGINE GPU SEED CLANG JOBS NVCC CUDA_INCLUDE CC CXX CCACHE \
    SUBMISSION LAB CASE SHAPE MAPS WEIGHTS FAIL_UNDER VERBOSE PTX AGAINST LINE PICTURE FILTER \
    SUBMISSIONS RESULTS DEADLINE SBATCH \
    FORMAT GRADEBOOK OUT FROM PLATFORM \
    NAME OPERATION SAMPLE SHARD KNOWN SECONDS \
    SET DATA EPOCHS RESUME STOP CHECK WINDOW \
    OVER NETWORK MODE TAU BATCH \
    SOCKET QUEUE LIMIT MARGIN METRICS RATE CLIENTS EACH THREADS SHOW \
    PROGRAM ARGS PROFILE ARCH NVCCFLAGS FILES COMMANDS
TAKEN := $(GIVEN) LONG QUICK LOWER V CI STRICT CPPFLAGS CFLAGS LDFLAGS LDLIBS WARN SANITIZE
$(foreach v,$(.VARIABLES),$(if $(filter command,$(origin $(v))),$(eval override $(v) := $$(value $(v)))))
$(foreach v,$(TAKEN),$(if $(filter environment,$(origin $(v))),$(eval $(v) := $$(value $(v)))))

BUILD   ?= build
SUBMISSION ?= labs
ENGINE  ?= auto
CLANG   ?= clang-14
JOBS    := $(or $(JOBS),$(shell nproc 2>/dev/null || echo 1))
CHOSEN_NVCC := $(NVCC)
export CHOSEN_NVCC $(GIVEN)

.DEFAULT_GOAL := labs
MAKEFLAGS += --no-builtin-rules --no-print-directory

# BUILD alone is part of targets and prerequisites, where make knows neither spaces nor quotes.
PLAIN := / . _ - + @ , 0 1 2 3 4 5 6 7 8 9 a b c d e f g h i j k l m n o p q r s t u v w x y z \
    A B C D E F G H I J K L M N O P Q R S T U V W X Y Z
without = $(if $(2),$(call without,$(subst $(firstword $(2)),,$(1)),$(wordlist 2,99,$(2))),$(1))
ifneq ($(if $(BUILD),$(call without,$(BUILD),$(PLAIN))$(filter -%,$(BUILD)),empty),)
$(error BUILD is a path of letters, digits and / . _ - + @ and commas, and does not begin with -)
endif

# A wrong answer is an answer, and so are "not passed yet" and "no such release":
# "make: *** Error 1" would say that something broke.  What ends make with a status of 1 and says
# nothing is -q, so these goals are asked that way.  Lines that begin with + are carried out all the
# same, and what they build is not asked but made.  Other goals beside them, or -n, -t: as ever.
ANSWERS := grade run profile see picture simulate debug hint ladder solution update reset watch machine \
    export class bundle datasets train sweep widths serve load
# Nor did something break where a goal is not told what it is about: it asks, and that is all.
OF_LAB  := see run profile hint solution reset keep watch serve mutate
UNTOLD  := $(filter $(if $(LAB),,$(OF_LAB)) $(if $(SUBMISSIONS),,class),$(MAKECMDGOALS))
LETTERS := $(filter-out --%,$(firstword -$(MAKEFLAGS)))
ifeq ($(filter-out $(ANSWERS) $(UNTOLD),$(or $(MAKECMDGOALS),labs))$(findstring n,$(LETTERS))$(findstring t,$(LETTERS)),)
MAKEFLAGS += --question
plus := +
made = MAKEFLAGS="$${MAKEFLAGS%%q*}$${MAKEFLAGS\#*q}"
endif
keep = echo $$? >"$$BUILD/answer.$@"

Q := @
ifeq ($(V),1)
.SHELLFLAGS := -xc
endif
say = @printf '  %-7s %s\n' '$(1)' '$(2)'

# A student's copy (autograder/handout) has no answer key and no tests.
COPY   := $(wildcard labs/*/.sealed)
ABSENT := $(if $(COPY),$(filter solution test check numbers sanitize fuzz mutate bench validate \
    compare tune new-lab keep handout bundle \
    compile-commands format style,$(MAKECMDGOALS)))
ifneq ($(ABSENT),)
$(error $(firstword $(ABSENT)): this is a student's copy; see make help)
endif

ifneq ($(filter-out help labs clean,$(or $(MAKECMDGOALS),labs)),)
include $(BUILD)/toolchain.env
endif

# setup.sh touches nothing when all is as it was; make starts again only when the file has changed.
.PHONY: always
$(BUILD)/toolchain.env: always
	$(Q)NVCC="$$CHOSEN_NVCC" sh common/setup/setup.sh "$$BUILD"

# ---- flags ---------------------------------------------------------------------------------------
# Another compiler has other warnings, and none of them may break a user's build: warnings are errors
# only in CI (CI is set) and with STRICT=1.
WARN     := -Wall -Wextra $(if $(CI)$(STRICT),-Werror)
CPPFLAGS += -I. -Icommon/include -D_GNU_SOURCE
# Functions and lines, as in a backtrace; variables and types would take the compiler an eighth
# longer (docs/developer/contributing.md).
CFLAGS   ?= -O2 -g1
CFLAGS   += -std=c11 -ffp-contract=off -fPIC $(WARN) $(SANITIZE)
LDFLAGS  += $(SANITIZE)
LDLIBS   := -ljansson -linih -lzstd -llz4 -lseccomp -lmd -lmuparser -lsodium -ldl -lpthread -lm
# Recipes read these; words are split at spaces, and nothing in them is a command.
export COMPILE_FLAGS = $(CPPFLAGS) $(CFLAGS) -MMD -MP
export LINK_FLAGS    = $(LINKER) $(LDFLAGS)
export LINK_LIBS     = $(LDLIBS)

# ---- the rooms, and which may use which ----------------------------------------------------------
# One archive a room; a room's tests are linked with it and what it uses, so a wrong dependency does
# not link.
USES_common/base   :=
USES_common/operations/operation := common/base
USES_common/operations/conv   := common/operations/operation common/base
USES_common/operations/conv_diagnosis := common/operations/conv common/operations/operation common/base
USES_common/operations/training_step := common/operations/operation common/base
USES_common/operations/calls :=
USES_common/operations/catalog := common/operations/training_step common/operations/conv_diagnosis common/operations/conv common/operations/operation \
    common/base
USES_common/cuda/paired_timing := common/base
USES_common/simulator/sass   := common/base
USES_common/simulator/ptx    := common/simulator/sass common/base
USES_common/simulator/machine := common/base
USES_common/simulator/core    := common/simulator/machine common/simulator/ptx $(USES_common/simulator/ptx)
USES_common/simulator/decode  := common/simulator/core $(USES_common/simulator/core)
USES_common/simulator/checks  := common/simulator/core $(USES_common/simulator/core)
USES_common/simulator/traffic := common/simulator/core $(USES_common/simulator/core)
USES_common/simulator/ptxas   := common/simulator/core $(USES_common/simulator/core)
USES_common/simulator/sass_map := common/simulator/ptxas $(USES_common/simulator/ptxas)
USES_common/simulator/timing  := common/simulator/sass_map common/simulator/traffic \
    $(USES_common/simulator/sass_map)
USES_common/simulator/exec    := common/simulator/checks common/simulator/timing $(USES_common/simulator/timing)
USES_common/simulator/launch   := common/simulator/decode common/simulator/exec $(USES_common/simulator/exec)
USES_common/simulator/tests := common/simulator/launch $(USES_common/simulator/launch)
USES_common/cuda   := common/base
USES_common/cuda/runtime := common/cuda common/simulator/ptx $(USES_common/simulator/ptx)
USES_common/cuda/gpu     := common/cuda common/simulator/ptx $(USES_common/simulator/ptx)
USES_common/cuda/sim     := common/cuda common/simulator/launch $(USES_common/simulator/launch)
USES_common/debugger := common/simulator/launch $(USES_common/simulator/launch)
USES_common/debugger/ui := common/debugger common/cuda/runtime common/cuda/sim \
    $(USES_common/cuda/sim)
USES_common/simulator/conformance  := common/cuda/gpu common/cuda/sim $(USES_common/cuda/sim)
USES_common/simulator/validation     := common/cuda/runtime common/cuda/sim $(USES_common/cuda/sim)
USES_common/apps/tail   := common/operations/conv common/operations/operation common/base
USES_datasets      := common/operations/conv common/operations/operation common/base
USES_common/cuda/engine := common/cuda/runtime common/cuda/sim $(USES_common/cuda/sim)
USES_common/apps/train  := common/cuda/engine datasets common/operations/catalog $(USES_common/operations/catalog)
USES_common/apps/serve/batches := common/operations/operation common/base
USES_common/apps/serve  := common/apps/serve/batches common/operations/calls common/cuda/engine \
    common/cuda/runtime $(USES_common/cuda/engine) datasets common/operations/catalog $(USES_common/operations/catalog)
USES_autograder/text    := common/base
USES_autograder/sandbox := common/base
USES_autograder/options := common/cuda common/base
USES_autograder/build   := autograder/sandbox common/base
USES_autograder/session := autograder/build autograder/sandbox autograder/tensors \
    common/operations/operation common/cuda common/base
USES_autograder/tensors := common/operations/operation common/cuda common/base
USES_autograder/lab     := autograder/text common/operations/catalog $(USES_common/operations/catalog) \
    common/cuda common/simulator/machine common/base
USES_autograder/mutate := autograder/lab $(USES_autograder/lab)
USES_autograder/tests/predictions := autograder/lab $(USES_autograder/lab)
USES_autograder/record  := autograder/lab $(USES_autograder/lab)
USES_autograder/class   := autograder/record $(USES_autograder/record)
USES_autograder/export  := autograder/class autograder/record $(USES_autograder/record)
USES_autograder/profile := autograder/text common/cuda common/simulator/core $(USES_common/simulator/core)
USES_autograder/see     := autograder/text common/simulator/core $(USES_common/simulator/core)
USES_autograder/trial   := common/operations/calls common/cuda/runtime autograder/options \
    autograder/profile autograder/see autograder/record $(USES_autograder/record) \
    autograder/tensors datasets common/cuda/gpu common/cuda/sim $(USES_common/cuda/sim)
USES_autograder/judging := autograder/session autograder/build autograder/sandbox \
    autograder/tensors autograder/record autograder/lab autograder/text \
    common/operations/catalog $(USES_common/operations/catalog) common/cuda/paired_timing common/cuda/gpu common/cuda \
    common/simulator/machine common/simulator/ptx common/simulator/sass
USES_autograder/handout := autograder/lab $(USES_autograder/lab)
USES_autograder         := autograder/options autograder/handout autograder/export \
    autograder/class autograder/judging autograder/mutate autograder/profile autograder/see \
    autograder/session autograder/build autograder/sandbox autograder/tensors \
    autograder/record autograder/lab autograder/text common/operations/catalog $(USES_common/operations/catalog) \
    common/cuda/paired_timing common/cuda/gpu common/cuda/sim \
    $(USES_common/cuda/sim)
ROOMS := common/base common/operations/operation common/operations/conv common/operations/conv_diagnosis common/operations/training_step \
    common/operations/catalog common/operations/calls common/cuda/paired_timing common/simulator/sass common/simulator/ptx \
    $(addprefix common/simulator/,machine core decode checks traffic ptxas sass_map timing exec) \
    common/simulator/launch common/simulator/tests common/cuda $(addprefix common/cuda/,runtime gpu sim) common/simulator/conformance \
    common/debugger common/debugger/ui common/simulator/validation common/apps/tail datasets common/cuda/engine common/apps/train common/apps/serve/batches \
    common/apps/serve \
    $(addprefix autograder/,text options sandbox build session tensors lab mutate record class \
    export profile see trial judging handout tests/predictions) autograder

# The calls need the toolkit's headers and go into the runner; a room's test_*, bench_*, fuzz_* and
# tool_* have a main of their own (tool_x: $(BUILD)/tests/<room>/tool_x); these are programs.
APART    := $(filter-out %/operation_call.c,$(wildcard common/operations/calls/*.c))
PROGRAMS := grade device runner run simulate debug debug_program lab doctor class export handout
APART    += common/apps/tail/plan_main.c common/simulator/validation/measure_sim.c common/cuda/engine/engine_gpu.c \
    common/apps/train/train_main.c common/apps/serve/serve_main.c common/apps/serve/load_main.c \
    $(PROGRAMS:%=autograder/%.c) $(foreach r,$(ROOMS),$(wildcard $(r)/test_*.c $(r)/bench_*.c \
    $(r)/fuzz_*.c $(r)/tool_*.c))

source_of  = $(filter-out $(APART),$(wildcard $(1)/*.c))
archive_of = $(BUILD)/lib/$(notdir $(1)).a
# The archives of some rooms; autograder itself holds programs and no archive.
archives_of = $(foreach r,$(1),$(if $(call source_of,$(r)),$(call archive_of,$(r))))
objects_of  = $(patsubst %.c,$(BUILD)/obj/%.o,$(foreach r,$(1),$(call source_of,$(r))))
BENCHES   := $(patsubst %.c,$(BUILD)/tests/%,$(foreach r,$(ROOMS),$(wildcard $(r)/bench_*.c)))
FUZZERS   := $(patsubst %.c,$(BUILD)/tests/%,$(foreach r,$(ROOMS),$(wildcard $(r)/fuzz_*.c)))
TESTS     := $(patsubst %.c,$(BUILD)/tests/%,$(foreach r,$(ROOMS),$(wildcard $(r)/test_*.c)))

# What make test runs, side by side.  Long ones first, so that no core waits for the other at the
# end; the unit tests of common, which come last, take a few seconds each.
UNIT_TESTS := $(filter-out %/test_corpus,$(TESTS))
LABS       := $(notdir $(patsubst %/lab.ini,%,$(wildcard labs/*/lab.ini)))
LONGEST     = autograder/tests/numbers/check.sh autograder/tests/train/check.sh \
    autograder/tests/names/check.sh $(BUILD)/tests/autograder/session/test_session
# In parts by the first letter, so that no core has all of them.
ATTACKS     = $(sort $(shell ls autograder/tests/attacks 2>/dev/null | cut -c 1))
ALL_TESTS   = $(LONGEST) $(LABS:%=corpus/solutions/%) $(LABS:%=corpus/mutants/%/) \
    $(ATTACKS:%=corpus/attacks/%) corpus/right/ corpus/skeletons \
    $(filter-out $(LONGEST) %/corpus/check.sh,$(wildcard autograder/tests/*/check.sh)) \
    $(filter-out $(LONGEST),$(filter $(BUILD)/tests/autograder/%,$(UNIT_TESTS))) \
    $(filter-out $(BUILD)/tests/autograder/%,$(UNIT_TESTS))

# ---- objects, libraries, programs ----------------------------------------------------------------
$(BUILD)/obj/%.o: %.c
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$$CCACHE $$CC $$COMPILE_FLAGS -c $< -o $@

# The interpreter's inner loops want the optimiser's best.
$(BUILD)/obj/common/simulator/%.o: CFLAGS += -O3
# Vectors are handed on within one file only, so that it does not matter how.
$(BUILD)/obj/common/simulator/exec/%.o: CFLAGS += -Wno-psabi
# Nearly every x86-64 processor has AVX2: there the handlers for any processor are spare ones, and
# compile in half the time.
ifneq ($(filter x86_64-%,$(MAKE_HOST)),)
$(BUILD)/obj/common/simulator/exec/exec_base.o: CFLAGS += -O1
endif
# Tests run for seconds, and the optimiser takes a third of their compilation.
$(TESTS:$(BUILD)/tests/%=$(BUILD)/obj/%.o): CFLAGS += -O1
# The only files that see the toolkit's headers.
$(BUILD)/obj/common/cuda/runtime/%.o $(BUILD)/obj/common/operations/calls/%.o \
    $(addprefix $(BUILD)/obj/common/apps/serve/,card.o pool.o test_pool.o): CPPFLAGS += -isystem \
    $(CUDA_INCLUDE)

define room_rules
$(call archive_of,$(1)): $(call objects_of,$(1))
	$$(call say,AR,$$@)
	@mkdir -p $$(@D)
	$$(Q)rm -f $$@ && ar rcs $$@ $$^

$(BUILD)/tests/$(1)/%: $(BUILD)/obj/$(1)/%.o $(call archives_of,$(1) $(USES_$(1)))
	$$(call say,LD,$$@)
	@mkdir -p $$(@D)
	$$(Q)$$$$CC $$$$LINK_FLAGS -Wl,--start-group $$^ -Wl,--end-group $$$$LINK_LIBS -lcmocka -o $$@
endef
$(foreach r,$(ROOMS),$(eval $(call room_rules,$(r))))

# Only the debugger reads DWARF and edits lines.
DEBUG_LIBS := -ldw -lelf -lreadline
$(BUILD)/tests/common/debugger/%: LDLIBS += $(DEBUG_LIBS)

# Only a class is archives and a database.
$(BUILD)/bin/class $(BUILD)/bin/export $(BUILD)/tests/autograder/class/% \
    $(BUILD)/tests/autograder/export/%: LDLIBS += -larchive -lsqlite3

# The server and its clients have an event loop, the load generator histograms and random times as
# well.
SERVE_LIBS := -levent -lgsl -lgslcblas
$(BUILD)/bin/load $(BUILD)/tests/common/apps/serve/%: LDLIBS += $(SERVE_LIBS)
$(BUILD)/bin/load: $(BUILD)/obj/common/apps/serve/load_main.o \
    $(call archives_of,common/apps/serve $(USES_common/apps/serve))
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$$CC $$LINK_FLAGS -Wl,--start-group $^ -Wl,--end-group $$LINK_LIBS -o $@

$(BUILD)/bin/debug: $(BUILD)/lib/ui.a
$(BUILD)/bin/%: $(BUILD)/obj/autograder/%.o $(call archives_of,$(USES_autograder))
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$$CC $$LINK_FLAGS -Wl,--start-group $^ -Wl,--end-group $$LINK_LIBS -o $@

# ---- what a submission is linked with ------------------------------------------------------------
# The sandboxed runner is the drop-in runtime and a wire, no engine; run has both engines in the
# same process, simulate one.  Their own names come whole (a submission that defines one of them is
# told so), of the rooms below comes what they need.
USES_autograder/runner.c := common/operations/calls common/cuda/runtime autograder/tensors \
    common/cuda common/simulator/ptx common/simulator/sass common/base
USES_autograder/run.c    := autograder/trial $(USES_autograder/trial)
USES_autograder/debug.c := common/debugger/ui common/debugger
USES_autograder/debug_program.c := common/cuda/runtime common/cuda/sim $(USES_common/cuda/sim)
USES_autograder/simulate.c := common/cuda/runtime autograder/profile autograder/record \
    $(USES_autograder/record) common/cuda/sim $(USES_common/cuda/sim)
RUNTIME_OBJ := $(call objects_of,common/cuda/runtime)
CALL_OBJ    := $(patsubst %.c,$(BUILD)/obj/%.o,$(filter-out \
    %/operation_call.c,$(wildcard common/operations/calls/*.c)))
SUBMISSION_LIBS := $(BUILD)/lib/runner.a $(BUILD)/lib/runner-rooms.a $(BUILD)/lib/run.a \
    $(BUILD)/lib/simulate.a $(BUILD)/lib/run-rooms.a $(BUILD)/lib/debug.a

$(BUILD)/lib/runner.a: $(BUILD)/obj/autograder/runner.o $(BUILD)/obj/common/operations/calls/operation_call.o $(RUNTIME_OBJ)
$(BUILD)/lib/run.a:    $(BUILD)/obj/autograder/run.o $(call objects_of,autograder/trial) \
    $(BUILD)/obj/common/operations/calls/operation_call.o $(RUNTIME_OBJ)
$(BUILD)/lib/simulate.a: $(BUILD)/obj/autograder/simulate.o $(RUNTIME_OBJ)
$(BUILD)/lib/debug.a: $(BUILD)/obj/autograder/debug_program.o $(RUNTIME_OBJ)
$(BUILD)/lib/engine-sim.a: $(BUILD)/obj/common/cuda/engine/engine_sim.o $(RUNTIME_OBJ)
$(BUILD)/lib/runner-rooms.a: $(call objects_of,$(filter-out \
    common/cuda/runtime,$(USES_autograder/runner.c)))
$(BUILD)/lib/run-rooms.a:    $(call objects_of,$(filter-out common/cuda/runtime \
    autograder/trial,$(USES_autograder/run.c)))
$(SUBMISSION_LIBS) $(BUILD)/lib/engine-sim.a: # q, not r: files of two rooms may have the same name
	$(call say,AR,$@)
	@mkdir -p $(@D)
	$(Q)rm -f $@ && ar qcs $@ $^

# These tests need an operation to judge with, and the rooms that they test know of none.
JUDGING_TESTS := common/operations/conv_diagnosis/test_diagnose common/operations/conv_diagnosis/test_order \
    autograder/session/test_session \
    datasets/tool_maps datasets/tool_recordings datasets/test_recordings
$(foreach t,$(JUDGING_TESTS),$(eval USES_$(t).c := common/operations/catalog $(USES_common/operations/catalog)))
$(foreach t,$(JUDGING_TESTS),$(eval $(BUILD)/tests/$(t): $(call archives_of,$(USES_$(t).c))))

# This test hands all of the runtime to a library that it compiles and opens.
USES_common/cuda/sim/test_end_to_end.c := common/cuda/runtime $(USES_common/cuda/sim)
$(BUILD)/tests/common/cuda/sim/test_end_to_end: $(RUNTIME_OBJ)
$(BUILD)/tests/common/cuda/sim/test_end_to_end: LDFLAGS += -rdynamic
# Which asks for memory in vain.
$(BUILD)/tests/common/simulator/tests/test_simt_memory $(BUILD)/tests/common/cuda/sim/test_sim_memory: \
    LDFLAGS += -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc

# ---- kernels that are measured on a card and priced here (common/simulator/validation) -----------------------
MEASURED   := $(patsubst common/simulator/validation/data/h200/%-times.tsv,%,$(wildcard \
    common/simulator/validation/data/h200/*-times.tsv))
NVCC_FLAGS := -O3 -lineinfo -std=c++17 -cudart none -Wno-deprecated-gpu-targets -I. \
    -Icommon/include \
    -gencode arch=compute_90,code=[compute_90,sm_90]

$(BUILD)/validate/hopper.o: NVCC_FLAGS := $(filter-out -gencode arch=%,$(NVCC_FLAGS)) \
    -gencode arch=compute_90a,code=compute_90a -gencode arch=compute_90a,code=sm_90a
$(BUILD)/validate/%.o: common/simulator/validation/%.cu common/simulator/validation/measure.h common/include/convlab/conv.h
	$(call say,NVCC,$<)
	@mkdir -p $(@D)
	$(Q)"$$NVCC" $(NVCC_FLAGS) -c $< -o $@

$(BUILD)/validate/lab-%.o: solutions/%/conv.cu common/include/convlab/conv.h
	$(call say,NVCC,$<)
	@mkdir -p $(@D)
	$(Q)"$$NVCC" $(NVCC_FLAGS) -c $< -o $@

VALIDATE_LIB := $(BUILD)/obj/common/simulator/validation/measure_sim.o \
    $(call archives_of,$(USES_common/simulator/validation))
# Programs of many kernels each; the others are labs' solutions.
MANY := $(patsubst %,$(BUILD)/validate/run-%,micro families strangers unseen blind suites public \
    field everyday forms textures spills hopper accesses lookups streams meetings pauses tiles)
$(MANY): $(BUILD)/validate/run-%: $(BUILD)/validate/%.o $(VALIDATE_LIB)
	$(call say,LD,$@)
	$(Q)$$CXX $$LINK_FLAGS $^ $$LINK_LIBS -o $@
$(MANY:$(BUILD)/validate/run-%=$(BUILD)/validate/%.o): common/simulator/validation/entries.h
$(patsubst %,$(BUILD)/validate/%.o,field public suites): common/simulator/validation/sums.h
$(BUILD)/validate/public.o: $(wildcard common/simulator/validation/public_*.h)
$(BUILD)/validate/field.o: $(wildcard common/simulator/validation/field_*.h)
$(BUILD)/validate/everyday.o: $(wildcard common/simulator/validation/everyday_*.h)
$(BUILD)/validate/run-%: $(BUILD)/validate/lab-%.o $(BUILD)/validate/layers.o $(VALIDATE_LIB)
	$(call say,LD,$@)
	$(Q)$$CXX $$LINK_FLAGS $^ $$LINK_LIBS -o $@

.SECONDARY:

# ---- second stage: everything that `make grade` and its sisters need built -----------------------
.PHONY: tools tests benches objects fuzzers validators rooms
rooms: # what each room may use, and single files: for autograder/tests/rooms
	@$(foreach u,$(filter USES_%,$(.VARIABLES)),echo '$(u:USES_%=%) $($(u))';)
validators: $(MEASURED:%=$(BUILD)/validate/run-%) $(BUILD)/tests/common/simulator/validation/tool_validate \
    $(BUILD)/bin/lab
	@:
tools: $(BUILD)/bin/grade $(BUILD)/bin/device $(BUILD)/bin/lab $(SUBMISSION_LIBS) $(CALL_OBJ) \
    $(call archive_of,common/operations/calls) $(call archive_of,autograder/trial)
	@:
tests: $(TESTS)
	@:
benches: $(BENCHES)
	@:
objects: $(patsubst %.c,$(BUILD)/obj/%.o,$(foreach r,$(ROOMS),$(wildcard $(r)/*.c)))
	@:
fuzzers: $(FUZZERS)
	@:
$(FUZZERS): LDFLAGS += -fsanitize=fuzzer
$(FUZZERS): | fuzzer-compiler
.PHONY: fuzzer-compiler
fuzzer-compiler: # gcc has none
	$(Q)$$CC -fsanitize=fuzzer -fsyntax-only -x c /dev/null 2>/dev/null || { \
	    echo "fuzzers: $$CC has no -fsanitize=fuzzer; make fuzz builds them with clang" >&2; exit 1; }

# ---- front door ----------------------------------------------------------------------------------
.PHONY: $(ANSWERS:=-answer) help labs setup doctor run machine simulate debug profile grade class \
    export book bundle handout update hint ladder reset solution watch check numbers bench \
    validate compare tune maps datasets train serve load sweep widths mutate test fuzz sanitize \
    keep new-lab compile-commands format style clean

# The compilers were looked for just now.
stage = $(Q)+$(made) sh common/setup/alone.sh "$$BUILD" $(MAKE) $(if $(V),,-s) -j"$$JOBS" \
    -o $(BUILD)/toolchain.env $(1)
# Packages that one target wants and a student does not.
want  = $(Q)sh common/setup/setup.sh "$$BUILD" $(1)
where = --root . --build "$$BUILD"
only  = $${LAB:+--lab "$$LAB"} $${CASE:+--case "$$CASE"} $${SEED:+--seed "$$SEED"}
shape = $${SHAPE:+--shape "$$SHAPE"} $${MAPS:+--maps "$$MAPS"} $${WEIGHTS:+--weights "$$WEIGHTS"}
whose = --submission "$$SUBMISSION" --gpu "$$GPU"

help:
	@sed -n $(if $(COPY),'/^#: *make solution/d; /^#: *make bundle/d; /^#: *what an instructor uploads/d; /^#: Who works/q; ')'s/^#: //p' Makefile

labs: FIRST = $(if $(COPY),LAB=$(firstword $(subst -, ,$(firstword $(LABS)))),SUBMISSION=solutions)
labs:
	@if [ -x $(BUILD)/bin/lab ]; then $(BUILD)/bin/lab list $(where); else \
	    echo '  Start with:  make grade $(FIRST)   (sets up, builds, grades)'; fi
	@echo; echo '  make grade LAB=NN; also run, hint, profile, see, ladder; make help says all'

#: The convolution lab workbook
#:
#:   make                        every lab, your best grade, what is next
#:   make grade [LAB=04] [SUBMISSION=dir] [ENGINE=gpu|sim] [GPU=titanv] [SEED=n]
#:        [FAIL_UNDER=n]
#:                       build and grade in the sandbox; SUBMISSION=solutions
#:                       grades the answer key; VERBOSE=1 says everything
#:                       (docs/student/messages.md: what it all means)
#:   make export FORMAT=junit [RESULTS=dir] [OUT=file]
#:                       the last grade in a format of others; FORMAT=canvas and
#:                       moodle take a class (docs/instructor/export.md)
#:   make bundle PLATFORM=gradescope|autolab|classroom [LAB=02]
#:                       what an instructor uploads there
#:   make run LAB=04 [CASE=name | SHAPE='...'] [ENGINE=gpu|sim] [GPU=h200]
#:                       build, run and check one case in one process: time, or
#:                       cycles and counters, beside the baseline's; SHAPE='N=8 C=3
#:                       H=32 W=32 K=16 R=5 S=5 pad=same stride=1' is a case of
#:                       your own; WEIGHTS=file: w from an NPY, IDX or text file
#:                       (labs/16-layers/README.md)
#:   make simulate PROGRAM=file.cu [ARGS='...'] [GPU=h200] [PROFILE=1]
#:                       any CUDA program on the simulated GPU: checks, cycles,
#:                       counters (docs/simulator/simulate.md)
#:   make debug PROGRAM=file.cu [ARGS='...'] | LAB=04 [CASE=name]
#:        [COMMANDS=file]
#:                       a debugger for kernels on the simulated GPU: breakpoints,
#:                       32 lanes at once, steps backwards (docs/student/debug.md)
#:   make machine [NAME=mycard]
#:                       the GPU that is here, measured: its description for GPU=
#:                       (docs/simulator/machines.md)
#:   make profile LAB=04 [CASE=name] [GPU=h200] [PTX=1] [ENGINE=gpu]
#:        [AGAINST=reference|baseline]
#:                       hot lines and what warps wait for there, a timeline, the
#:                       roofline; what is more of beside the reference
#:   make see LAB=04 [LINE=n] [CASE=name]
#:                       a page for a browser: what each lane of a warp touches,
#:                       sectors, bank conflicts, the block's tile (docs/student/see.md)
#:   make picture LAB=02 [FILTER=edges] [PICTURE=file.png]
#:                       one of the labs 00 to 04 on a picture (docs/student/picture.md)
#:   make book
#:                       the workbook as pages for a browser, with search, and as
#:                       a PDF: the labs, the GPU, words, errata, a cheat sheet
#:   make maps [SEED=n]
#:                       feature maps like VGG-19's into build/maps; one of them as
#:                       input of a run: make run LAB=13
#:                       MAPS=build/maps/conv5_1.txt SHAPE='K=512 R=3 S=3 ...'
#:   make datasets [SET=digits|recordings|mnist|fashion-mnist] [SEED=n]
#:                       digits to train on, into build/datasets
#:                       (datasets/README.md)
#:   make train [DATA=digits-8x8|digits|mnist] [EPOCHS=n] [SEED=n] [RESUME=1]
#:        [WINDOW=1] [CHECK=100]
#:                       lab 18's step teaches a network to read digits: curves,
#:                       misread digits, weights; DATA=recordings: lab 19's
#:   make sweep [LAB="02 10"] [SHAPE='N=1 C=256 H=14 W=14 K=% ...']
#:        [OVER=32:640:32] [GPU="titanv h200"]
#:                       how long a layer takes while the % in SHAPE grows: steps,
#:                       predicted and measured (labs/20-tail); on a card
#:                       cudnn-fp32, -tf32, -fastest, -fft ... are labs, too
#:   make widths [NETWORK=vgg-16-pruned] [LAB=10] [BATCH=1] [TAU=50]
#:        [MODE=latency|parameters] [GPU=titanv]
#:                       lab 20's widths for a network that fit a GPU, measured
#:                       before and after
#:   make serve LAB=16 CASE=lenet [LIMIT=7] [WINDOW=0.2] [BATCH=n] [QUEUE=n]
#:        [METRICS=port]
#:                       your kernels answer the clients of a socket, each within
#:                       LIMIT milliseconds or not at all (docs/student/serve.md)
#:   make load [RATE=n] [SECONDS=5] [CLIENTS=16] [EACH=n] [CHECK=1] [SHOW=metrics]
#:                       such clients: so many requests a second, or as many as are
#:                       answered
#:   make ladder [LAB=04]
#:                       how your grades went, from the baseline towards the
#:                       reference and the machine's roof: text and figures
#:   make hint LAB=04            the next hint
#:   make watch LAB=04           regrade on save
#:   make reset LAB=04           the skeleton again (keeps a backup)
#:   make solution LAB=04        the solution, once you passed
#:   make class SUBMISSIONS=dir [LAB=04] [RESULTS=dir] [DEADLINE=2026-10-01T12:00]
#:        [JOBS=n] [SEED=n]
#:                       a whole class into one gradebook; again, to go on
#:                       (docs/instructor/class.md); ENGINE=slurm or slurm-gpu
#:                       [SBATCH=options]: on a cluster's nodes
#:   make setup                  find or install what is missing
#:   make doctor                 what this machine can do
#:   make update FROM=dir
#:                       in a student's copy: the next release, merged with your
#:                       work
#:   make clean                  remove build/
#:
#: Who works on the workbook itself (docs/developer/contributing.md):
#:
#:   make test                   all tests; the last line counts them
#:   make check [LAB=02]
#:                       labs agree with themselves, and pages with what makes
#:                       their numbers
#:   make numbers [LAB=02]
#:                       makes the numbers anew, into the pages
#:                       (docs/numbers/README.md)
#:   make format
#:                       C, C++ and CUDA as .clang-format says; make test looks
#:   make style [FILES="docs labs/04-tiled"] [LOWER=1]
#:                       words, sentences and headings that docs/style/guide.md rules
#:                       out, with their lines; LOWER=1 lowers the budget
#:   make sanitize               the unit tests under AddressSanitizer and UBSan
#:   make fuzz [SECONDS=60]
#:                       hostile PTX, images, frames, calls, ini files: so long
#:                       each
#:   make mutate LAB=02 [SAMPLE=50 SEED=1 VERBOSE=1 JOBS=n SHARD=1/4 KNOWN=file]
#:                       do the cases find every small change of the solution?
#:   make handout [LAB="01 02"] [OUT=dir]
#:                       a student's copy: a git repository, one commit a release
#:   make new-lab LAB=21 NAME=mine [OPERATION=conv_forward]
#:                       every file of a new lab, small and working
#:                       (docs/developer/writing-a-lab.md)
#:   make keep LAB=04            the skeleton in labs/ becomes the pristine copy
#:   make compile-commands       compile_commands.json, for clangd
#:   make bench                  how fast the simulator and this machine's GPU are
#:   make validate
#:                       the simulator against what an H200 measured
#:                       (docs/simulator/validation.md)
#:   make compare
#:                       every solution beside cuDNN on this machine's GPU
#:                       (docs/student/compare.md)
#:   make tune
#:                       what labs 10, 12, 14 and 15 choose their tiles by,
#:                       measured on this machine's GPU (docs/student/compare.md)
#:

# In two lines: of one, -q would carry out all or nothing.
.PHONY: told
told:
	$(if $(UNTOLD),@$(plus)echo '$(if $(filter class,$(UNTOLD)),whose?  for example:  make class SUBMISSIONS=dir  (docs/instructor/class.md),which lab?  for example:  make $(firstword $(UNTOLD)) LAB=02)' >&2)
	$(if $(UNTOLD),@exit 2)
$(foreach goal,class $(OF_LAB),$(if $(filter $(goal),$(ANSWERS)),$(goal)-answer,$(goal))): told

setup: $(BUILD)/toolchain.env
	@:

doctor:
	$(call stage,$(BUILD)/bin/doctor)
	$(Q)$(BUILD)/bin/doctor $(where)

# The answer, and then its status.
$(ANSWERS): %: %-answer
	$(if $(filter-out 0,$(file <$(BUILD)/answer.$@-answer)),@exit $(file <$(BUILD)/answer.$@-answer))

grade-answer:
	$(call stage,tools)
	$(Q)$(plus)$(BUILD)/bin/grade $(where) $(only) $(whose) --engine "$$ENGINE" \
	    $${FAIL_UNDER:+--fail-under "$$FAIL_UNDER"} $${VERBOSE:+--verbose}; $(keep)

see-answer:
	$(call stage,tools)
	$(Q)$(plus)$(BUILD)/bin/lab see $(where) $(only) $(shape) $(whose) --engine "$$ENGINE" $${LINE:+--line "$$LINE"}; $(keep)

picture-answer:
	$(Q)$(plus)sh common/setup/setup.sh "$$BUILD" python3-numpy python3-pil
	$(call stage,tools)
	$(Q)$(plus)sh common/setup/picture.sh "$$BUILD" "$$LAB" "$$SUBMISSION" "$$ENGINE" "$$PICTURE" "$$FILTER"; $(keep)

book:
	$(call want,python3-sphinx python3-myst-parser furo weasyprint)
	$(call stage,$(BUILD)/bin/lab)
	$(Q)sh common/setup/book.sh "$$BUILD"

# What make says goes beside, so that the format alone is on standard output.
export-answer:
	$(call stage,$(BUILD)/bin/export) >&2
	$(Q)$(plus)$(BUILD)/bin/export --build "$$BUILD" --format "$$FORMAT" --results "$$RESULTS" --gradebook "$$GRADEBOOK" --out "$$OUT"; $(keep)

class-answer:
	$(Q)$(plus)sh common/setup/setup.sh "$$BUILD" similarity-tester
	$(call stage,tools $(BUILD)/bin/class)
	$(Q)$(plus)$(BUILD)/bin/class $(where) --submissions "$$SUBMISSIONS" $${LAB:+--lab "$$LAB"} $${SEED:+--seed "$$SEED"} \
	    --results "$$RESULTS" --deadline "$$DEADLINE" --engine "$$ENGINE" --gpu "$$GPU" --jobs "$$JOBS" \
	    --sbatch "$$SBATCH"; $(keep)

bundle-answer:
	$(Q)$(plus)sh common/setup/bundle.sh "$$BUILD" "$$PLATFORM" "$$LAB"; $(keep)

run-answer:
	$(call stage,tools)
	$(Q)$(plus)$(BUILD)/bin/lab run $(where) $(only) $(shape) $(whose) --engine "$$ENGINE"; $(keep)

profile-answer:
	$(call stage,tools)
	$(Q)$(plus)$(BUILD)/bin/lab profile $(where) $(only) $(shape) $(whose) \
	    --engine $(if $(filter auto,$(ENGINE)),sim,"$$ENGINE") $${PTX:+--ptx} $${AGAINST:+--against "$$AGAINST"}; $(keep)

hint-answer solution-answer reset-answer:
	$(call stage,$(BUILD)/bin/lab)
	$(Q)$(plus)$(BUILD)/bin/lab $(@:-answer=) $(where) --lab "$$LAB"; $(keep)

ladder-answer:
	$(call stage,$(BUILD)/bin/lab)
	$(Q)$(plus)sh common/setup/ladder.sh "$$BUILD" "$$LAB"; $(keep)

keep:
	$(call stage,$(BUILD)/bin/lab)
	$(Q)$(BUILD)/bin/lab $@ $(where) --lab "$$LAB"

watch-answer:
	$(call stage,tools)
	$(Q)$(plus)sh common/setup/watch.sh "$$BUILD" "$$LAB" $(BUILD)/bin/grade --watch $(where) --lab "$$LAB" --engine "$$ENGINE" --gpu "$$GPU"; $(keep)

# What the scripts of docs/numbers run beside the labs.
NUMBER_TOOLS := $(addprefix $(BUILD)/tests/,common/simulator/conformance/tool_conformance \
    common/simulator/validation/tool_validate common/apps/tail/tool_stairs common/operations/operation/tool_rounding \
    datasets/tool_maps datasets/tool_digits datasets/tool_recordings)

check:
	$(call stage,tools $(NUMBER_TOOLS))
	$(Q)$(BUILD)/bin/lab check $(where)
	$(Q)$(if $(LONG),NUMBERS_LONG=1) sh docs/numbers/numbers.sh "$$BUILD" check "$$LAB"

numbers:
	$(call stage,tools $(NUMBER_TOOLS) $(if $(filter validation,$(or $(LAB),validation)),validators))
	$(Q)$(if $(QUICK),NUMBERS_QUICK=1) sh docs/numbers/numbers.sh "$$BUILD" write "$$LAB"

bench:
	$(call stage,tools benches)
	$(Q)sh common/setup/bench.sh "$$BUILD"

validate:
	$(call stage,validators)
	$(Q)sh common/simulator/validation/validate.sh "$$BUILD"

compare:
	$(call stage,tools)
	$(Q)sh common/apps/compare/compare.sh "$$BUILD" "$$NVCC"

tune:
	$(Q)sh common/apps/compare/tune.sh "$$BUILD" "$$NVCC"

maps:
	$(call stage,$(BUILD)/tests/datasets/tool_maps)
	$(Q)mkdir -p $(BUILD)/maps
	$(Q)$(BUILD)/tests/datasets/tool_maps write $(BUILD)/maps "$${SEED:-1}"
	$(Q)$(BUILD)/tests/datasets/tool_maps list $(BUILD)/maps

machine-answer:
	$(Q)$(plus)sh common/setup/machine.sh "$$BUILD"; $(keep)

simulate-answer:
	$(call stage,$(BUILD)/lib/simulate.a $(BUILD)/lib/run-rooms.a)
	$(Q)$(plus)sh common/setup/simulate.sh "$$BUILD" "$$PROGRAM" "$$ARGS"; $(keep)

# The debugger, linked with a lab's case or with a program, both compiled with nvcc -G.
DEBUG_PARTS := $(addprefix $(BUILD)/lib/,debug.a debugger.a ui.a run.a run-rooms.a) $(CALL_OBJ) \
    $(addprefix $(BUILD)/bin/,lab debug)
debug-answer:
	$(call stage,$(DEBUG_PARTS))
	$(Q)$(plus)sh common/setup/debug.sh "$$BUILD" "$$LAB" "$$PROGRAM" "$$ARGS"; $(keep)

# Lab 18's step on a set of digits.
TRAIN_PARTS := $(addprefix $(BUILD)/,obj/common/apps/train/train_main.o lib/train.a lib/datasets.a \
    lib/engine-sim.a lib/run-rooms.a tests/datasets/tool_digits)
train-answer:
	$(call stage,$(TRAIN_PARTS))
	$(Q)$(plus)sh common/apps/train/train.sh "$$BUILD" "$$DATA" "$$EPOCHS" "$$SEED" "$$ENGINE"; $(keep)

sweep-answer:
	$(call stage,tools $(BUILD)/tests/common/apps/tail/tool_stairs)
	$(Q)$(plus)sh common/apps/tail/sweep.sh "$$BUILD" "$$NVCC" "$$LAB" "$$SHAPE" "$$OVER" "$$ENGINE" "$$GPU" "$$JOBS"; $(keep)

WIDTHS_PARTS := $(BUILD)/obj/common/apps/tail/plan_main.o $(call archives_of,common/operations/conv \
    common/operations/operation common/base)
widths-answer:
	$(call stage,tools $(WIDTHS_PARTS))
	$(Q)$(plus)sh common/apps/tail/widths.sh "$$BUILD" "$$NVCC" "$$NETWORK" "$$LAB" "$$MODE" "$$TAU" "$$BATCH" "$$ENGINE" "$$GPU" "$$JOBS"; $(keep)

# A lab's network for the clients of a Unix socket, and such clients.
SERVE_PARTS := $(addprefix $(BUILD)/,obj/common/apps/serve/serve_main.o lib/calls.a lib/serve.a \
    lib/batches.a lib/engine-sim.a lib/run-rooms.a bin/lab bin/load) $(CALL_OBJ)
serve-answer:
	$(call stage,$(SERVE_PARTS))
	$(Q)$(plus)sh common/apps/serve/serve.sh "$$BUILD" "$$LAB" "$$ENGINE"; $(keep)

load-answer:
	$(call stage,$(BUILD)/bin/load)
	$(Q)$(plus)$(BUILD)/bin/load SOCKET="$${SOCKET:-$$BUILD/serve/socket}" RATE="$$RATE" SECONDS="$$SECONDS" CLIENTS="$$CLIENTS" EACH="$$EACH" \
	    THREADS="$$THREADS" LIMIT="$$LIMIT" SEED="$$SEED" CHECK="$$CHECK" OUT="$$OUT" SHOW="$$SHOW"; $(keep)

# The digits that the workbook draws itself, or with SET=mnist a published set.
datasets-answer:
	$(call stage,$(BUILD)/tests/datasets/tool_digits $(BUILD)/tests/datasets/tool_recordings)
	$(Q)$(plus)sh datasets/datasets.sh "$$BUILD" "$$SET" "$$SEED"; $(keep)

# What autograder/tests/export runs.
EXPORT_TOOLS := $(BUILD)/bin/export $(BUILD)/tests/autograder/export/tool_sample

# Beside the programs, for it mostly waits.
.PHONY: test-packages
test-packages:
	$(call want,clang-format-14 shellcheck libxml2-utils tidy python3-jsonschema python3-numpy python3-pil python3-sphinx python3-myst-parser similarity-tester $${CI:+slurmctld slurmd slurm-client munge})

test: export CHOSEN = $(ALL_TESTS)
test:
	$(call stage,test-packages tools tests $(NUMBER_TOOLS) $(EXPORT_TOOLS) $(TRAIN_PARTS) $(SERVE_PARTS) $(WIDTHS_PARTS) $(DEBUG_PARTS) $(BUILD)/bin/doctor $(BUILD)/bin/class $(BUILD)/bin/handout)
	$(Q)sh autograder/tests/run.sh "$$BUILD" $$CHOSEN

# In build folders of their own, with the nvcc that setup found for this one.  Warnings are the
# ordinary build's affair: clang knows other ones.
checked = $(Q)+CFLAGS='-O1 -g -fno-omit-frame-pointer' $(MAKE) $(if $(V),,-s) -j"$$JOBS" \
    BUILD=$(BUILD)/$@ NVCC="$$NVCC" WARN=-w \
    SANITIZE='-fsanitize=address,undefined -fno-sanitize-recover=all $(2)' $(1)

fuzz:
	$(call want,clang-14 libclang-rt-14-dev)
	$(call checked,CC="$$CLANG" fuzzers $(BUILD)/fuzz/tests/common/simulator/conformance/tool_conformance,-fsanitize=fuzzer-no-link)
	$(Q)sh common/setup/fuzz.sh $(BUILD)/fuzz "$${SECONDS:-60}"

# gcc 13 puts vectors of 64 bytes into AddressSanitizer's second stack unaligned, so that one is
# off; the CUDA driver maps memory where the sanitizer's shadow has a gap.
sanitize:
	$(call checked,tests)
	$(Q)ASAN_OPTIONS="detect_stack_use_after_return=0:protect_shadow_gap=0:$$ASAN_OPTIONS" \
	    sh autograder/tests/run.sh $(BUILD)/sanitize $(UNIT_TESTS:$(BUILD)/%=$(BUILD)/sanitize/%)

mutate:
	$(call stage,tools)
	$(Q)sh autograder/mutate/mutate.sh "$$BUILD" "$$LAB"

new-lab:
	$(Q)sh common/setup/new_lab.sh "$$LAB" "$$NAME" "$${OPERATION:-conv_forward}"
	$(call stage,tools $(NUMBER_TOOLS))
	$(Q)sh docs/numbers/numbers.sh "$$BUILD" write "$$LAB"
	$(Q)sh docs/numbers/numbers.sh "$$BUILD" write labs
	$(Q)$(BUILD)/bin/lab check $(where)
	@echo '  It grades, checks and tests as it is.  What to change, in which order: docs/developer/writing-a-lab.md'

handout:
	$(call stage,tools $(BUILD)/bin/handout)
	$(Q)sh autograder/handout/handout.sh "$$BUILD" "$${OUT:-$$BUILD/handout}" "$$LAB"

update-answer:
	$(Q)$(plus)mkdir -p "$$BUILD" && sh common/setup/update.sh "$$FROM"; $(keep)

# clangd wants the flags of every source.  Nothing is compiled for it, only read.
compile-commands:
	$(call want,bear)
	$(Q)command -v bear >/dev/null || { echo 'compile-commands: no bear: sudo apt-get install bear' >&2; exit 1; }
	$(Q)CFLAGS=-fsyntax-only bear --output compile_commands.json -- \
	    $(MAKE) -B -s -j"$$JOBS" BUILD=$(BUILD)/clangd NVCC="$$NVCC" CCACHE= objects >/dev/null

format:
	$(call want,clang-format-14)
	$(Q)sh autograder/tests/format/check.sh "$$BUILD" mend

style:
	$(call want,python3)
	$(Q)python3 common/setup/style.py $$FILES $(if $(FILES),,--budget docs/style/budget.tsv $(if $(LOWER),--quiet --lower))

clean:
	$(Q)rm -rf $(BUILD)

# A goal that answers compiles nothing: the make does that it starts.
ifndef plus
-include $(shell find $(BUILD)/obj -name '*.d' 2>/dev/null)
endif
