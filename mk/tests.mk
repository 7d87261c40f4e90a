# Tests and checks of the workbook itself.

# The tests of `make test`, several at a time.  Long ones are first, so that no core is idle at the
# end; the unit tests of common/, which are last, take a few seconds each.
UNIT_TESTS := $(filter-out %/test_corpus,$(TESTS))
LABS       := $(notdir $(patsubst %/lab.ini,%,$(wildcard labs/*/lab.ini)))
LONGEST     = $(addprefix autograder/tests/,$(addsuffix /check.sh,numbers simulate ideas workbench \
    libraries names train)) $(BUILD)/tests/autograder/session/test_session
# Attacks are split by the first letter, so that several cores share them.
ATTACKS     = $(sort $(shell ls autograder/tests/attacks 2>/dev/null | cut -c 1))
ALL_TESTS   = $(LONGEST) $(LABS:%=corpus/solutions/%) $(LABS:%=corpus/mutants/%/) \
    $(ATTACKS:%=corpus/attacks/%) corpus/right/ corpus/skeletons \
    $(filter-out $(LONGEST) %/corpus/check.sh,$(wildcard autograder/tests/*/check.sh)) \
    $(filter-out $(LONGEST),$(filter $(BUILD)/tests/autograder/%,$(UNIT_TESTS))) \
    $(filter-out $(BUILD)/tests/autograder/%,$(UNIT_TESTS))

# Programs that the scripts of docs/numbers run in addition to the labs.
NUMBER_TOOLS := $(addprefix $(BUILD)/tests/,common/simulator/conformance/tool_conformance \
    common/apps/train/tool_int8 \
    common/simulator/validation/tool_validate common/apps/tail/tool_stairs common/operations/operation/tool_rounding \
    datasets/tool_maps datasets/tool_digits datasets/tool_recordings)
# Programs that autograder/tests/export runs.
EXPORT_TOOLS := $(BUILD)/bin/export $(BUILD)/tests/autograder/export/tool_sample

#: Targets for work on the workbook itself (docs/developer/contributing.md):
#:
#:   make test                   all tests; the last line counts them
.PHONY: test test-packages
OWN_TARGETS += test
# A target of its own, so that it runs during the compilation, because it mostly waits.
test-packages:
	$(call want,clang-format-14 shellcheck libxml2-utils xz-utils tidy python3-jsonschema python3-numpy python3-pil python3-sphinx python3-myst-parser similarity-tester libjs-codemirror chromium chromium-driver python3-selenium curl cmake libfftw3-single3 libfftw3-double3 $${CI:+slurmctld slurmd slurm-client munge})
	$(Q)sh common/setup/axe.sh "$$BUILD"

test: export CHOSEN = $(ALL_TESTS)
test:
	$(call stage,test-packages tools tests $(NUMBER_TOOLS) $(EXPORT_TOOLS) $(TRAIN_PARTS) $(SERVE_PARTS) $(WIDTHS_PARTS) $(DEBUG_PARTS) $(BUILD)/bin/doctor $(BUILD)/bin/class $(BUILD)/bin/handout $(BUILD)/bin/workbench $(BUILD)/bin/simnvcc $(BUILD)/simcuda/libcuda.so.1 $(BUILD)/tests/autograder/sandbox/tool_no_namespaces)
	$(Q)sh autograder/tests/run.sh "$$BUILD" $$CHOSEN

#:   make check [LAB=02]
#:                       consistency of the labs, and of the pages with the
#:                       programs that make their numbers
#:   make numbers [LAB=02]
#:                       writes the numbers into the pages again
#:                       (docs/numbers/README.md)
.PHONY: check numbers
OWN_TARGETS += check numbers
check:
	$(call stage,tools $(NUMBER_TOOLS))
	$(Q)$(BUILD)/bin/lab check $(where)
	$(Q)sh autograder/mutate/ideas.sh "$$BUILD" check "$$LAB"
	$(Q)$(if $(LONG),NUMBERS_LONG=1) sh docs/numbers/numbers.sh "$$BUILD" check "$$LAB"

numbers:
	$(call stage,tools $(NUMBER_TOOLS) $(if $(filter validation,$(or $(LAB),validation)),validators))
	$(Q)$(if $(QUICK),NUMBERS_QUICK=1) sh docs/numbers/numbers.sh "$$BUILD" write "$$LAB"
	$(Q)case $$LAB in [0-9]*) sh docs/numbers/numbers.sh "$$BUILD" write labs ;; esac

#:   make format
#:                       formats C, C++ and CUDA by .clang-format; make test checks
#:   make style [FILES="docs labs/04-tiled"] [LOWER=1]
#:                       words, sentences and headings that violate
#:                       docs/style/guide.md, with their lines; LOWER=1 lowers
#:                       the budget
.PHONY: format style
OWN_TARGETS += format style
format:
	$(call want,clang-format-14)
	$(Q)sh autograder/tests/format/check.sh "$$BUILD" format

style:
	$(call want,python3)
	$(Q)python3 common/setup/style.py $$FILES $(if $(FILES),,--budget docs/style/budget.tsv $(if $(LOWER),--quiet --lower))

#:   make sanitize               the unit tests under AddressSanitizer and UBSan
#:   make sanitize-threads       tests of code with threads under ThreadSanitizer
#:   make fuzz [SECONDS=60]
#:                       hostile PTX, images, frames, calls, ini files and commands
#:                       of the debugger, each for SECONDS
.PHONY: sanitize sanitize-threads fuzz
OWN_TARGETS += sanitize sanitize-threads fuzz
# $(1): what to make, $(2): options for gcc and clang.  In build folders of their own, with the nvcc
# that setup found for this one.  WARN=-w: clang has other warnings than the ordinary build's compiler.
checked = $(Q)+CFLAGS='-O1 -g -fno-omit-frame-pointer' $(MAKE) $(if $(V),,-s) -j"$$JOBS" \
    BUILD=$(BUILD)/$@ NVCC="$$NVCC" WARN=-w SANITIZE='$(2)' $(1)
MEMORY_CHECKS := -fsanitize=address,undefined -fno-sanitize-recover=all

# gcc 13 puts 64-byte vectors into AddressSanitizer's second stack without alignment, so that stack is
# off.  The CUDA driver maps memory in the gap of the sanitizer's shadow memory.
sanitize:
	$(call checked,tests,$(MEMORY_CHECKS))
	$(Q)ASAN_OPTIONS="detect_stack_use_after_return=0:protect_shadow_gap=0:$$ASAN_OPTIONS" \
	    sh autograder/tests/run.sh $(BUILD)/sanitize $(UNIT_TESTS:$(BUILD)/%=$(BUILD)/sanitize/%)

# Tests whose code has threads.  setarch -R: ThreadSanitizer of gcc 12 does not start at some
# addresses that the kernel chooses.
THREAD_TESTS := $(addprefix $(BUILD)/sanitize-threads/tests/,common/base/test_parallel \
    common/apps/serve/test_pool common/apps/serve/test_server common/cuda/runtime/test_runtime \
    $(addprefix common/cuda/sim/test_,end_to_end sim_memory sim_order sim_timeline) \
    $(addprefix common/simulator/tests/test_simt_,checks counters cycles cycles_memory faults races \
    repeats watch) $(addprefix autograder/judging/test_,ordered_tasks parallel_session precompute))
sanitize-threads:
	$(call checked,$(THREAD_TESTS),-fsanitize=thread)
	$(Q)TSAN_OPTIONS="suppressions=common/simulator/tests/threads.supp:$$TSAN_OPTIONS" \
	    setarch -R sh autograder/tests/run.sh $(BUILD)/$@ $(THREAD_TESTS)

fuzz:
	$(call want,clang-14 libclang-rt-14-dev)
	$(call checked,CC="$$CLANG" fuzzers $(BUILD)/fuzz/tests/common/simulator/conformance/tool_conformance,$(MEMORY_CHECKS) -fsanitize=fuzzer-no-link)
	$(Q)sh common/setup/fuzz.sh $(BUILD)/fuzz "$${SECONDS:-60}"

#:   make test-arm [LONG=1]
#:                       cross-compiles for ARM and runs unit tests under qemu
#:                       (docs/simulator/arm.md)
.PHONY: test-arm
OWN_TARGETS += test-arm
test-arm:
	$(call want,gcc-aarch64-linux-gnu g++-aarch64-linux-gnu qemu-user-static)
	$(Q)+$(if $(LONG),LONG=1) $(plain_make) sh common/setup/arm_test.sh "$$BUILD"

#:   make ideas LAB=02
#:                       each TODO and idea, the variants without it, and the
#:                       points that each loses
#:   make mutate LAB=02 [SAMPLE=50 SEED=1 VERBOSE=1 JOBS=n SHARD=1/4 KNOWN=file]
#:                       share of small changes of the solution that the cases find
.PHONY: ideas mutate
LAB_TARGETS += ideas mutate
OWN_TARGETS += ideas mutate
ideas:
	$(call stage,tools)
	$(Q)sh autograder/mutate/ideas.sh "$$BUILD" show "$$LAB"

mutate:
	$(call stage,tools)
	$(Q)sh autograder/mutate/mutate.sh "$$BUILD" "$$LAB"
