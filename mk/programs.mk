# Programs, the libraries that submissions are linked with, and the second stage.

# Only the debugger reads DWARF and has a line editor.
DEBUG_LIBS := -ldw -lelf -lreadline
$(BUILD)/tests/common/debugger/%: LDLIBS += $(DEBUG_LIBS)

# Only a class reads archives and has a database.
$(BUILD)/bin/class $(BUILD)/bin/export $(BUILD)/tests/autograder/class/% \
    $(BUILD)/tests/autograder/export/%: LDLIBS += -larchive -lsqlite3

# Only the workbench serves HTTP and renders Markdown.
WORKBENCH_LIBS := -lmicrohttpd -lcmark-gfm-extensions -lcmark-gfm
$(BUILD)/bin/workbench $(BUILD)/tests/autograder/workbench/%: LDLIBS += $(WORKBENCH_LIBS)
$(BUILD)/bin/workbench: $(BUILD)/lib/workbench.a

# The server and its clients have an event loop; the load generator also has histograms and random
# times.
SERVE_LIBS := -levent -lgsl -lgslcblas
$(BUILD)/bin/load $(BUILD)/tests/common/apps/serve/%: LDLIBS += $(SERVE_LIBS)
$(BUILD)/bin/load: $(BUILD)/obj/common/apps/serve/load_main.o \
    $(call archives_of,common/apps/serve $(USES_common/apps/serve))
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$$CC $$LINK_FLAGS -Wl,--start-group $^ -Wl,--end-group $$LINK_LIBS -o $@

# A grade needs these two, which use fewer modules than other programs.
USES_autograder/grade.c  := autograder/options autograder/judging $(USES_autograder/judging)
USES_autograder/device.c := autograder/options autograder/session $(USES_autograder/session) \
    common/cuda/gpu common/cuda/sim $(USES_common/cuda/sim)
define program_rule
$(BUILD)/bin/$(1): $(BUILD)/obj/autograder/$(1).o $(call archives_of,$(USES_autograder/$(1).c))
	$$(call say,LD,$$@)
	@mkdir -p $$(@D)
	$$(Q)$$$$CC $$$$LINK_FLAGS -Wl,--start-group $$^ -Wl,--end-group $$$$LINK_LIBS -o $$@
endef
$(foreach p,grade device,$(eval $(call program_rule,$(p))))

$(BUILD)/bin/debug: $(BUILD)/lib/ui.a
$(BUILD)/bin/%: $(BUILD)/obj/autograder/%.o $(call archives_of,$(USES_autograder))
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$$CC $$LINK_FLAGS -Wl,--start-group $^ -Wl,--end-group $$LINK_LIBS -o $@

# ---- libraries of submissions ----------------------------------------------------------------------
# The sandboxed runner consists of the drop-in runtime and a wire, without an engine.  `run` has both
# engines in the same process, `simulate` one.  Their own objects are linked whole, so that a
# submission that defines one of their names is reported.  The modules below contribute only the
# objects that are needed.
USES_autograder/runner.c := common/operations/calls common/cuda/runtime autograder/tensors \
    common/cuda common/simulator/ptx common/simulator/sass common/base
USES_autograder/run.c    := autograder/trial $(USES_autograder/trial)
USES_autograder/debug.c := common/debugger/ui common/debugger
USES_autograder/workbench.c := autograder/workbench $(USES_autograder/workbench)
USES_autograder/debug_program.c := common/cuda/runtime common/cuda/sim $(USES_common/cuda/sim)
USES_autograder/simulate.c := common/cuda/runtime autograder/findings autograder/profile autograder/record \
    $(USES_autograder/record) common/cuda/sim $(USES_common/cuda/sim)
RUNTIME_OBJ := $(call objects_of,common/cuda/runtime)
CALL_OBJ    := $(patsubst %.c,$(BUILD)/obj/%.o,$(filter-out \
    %/operation_call.c,$(wildcard common/operations/calls/*.c)))
SUBMISSION_LIBS := $(BUILD)/lib/runner.a $(BUILD)/lib/runner-modules.a $(BUILD)/lib/run.a \
    $(BUILD)/lib/simulate.a $(BUILD)/lib/run-modules.a $(BUILD)/lib/debug.a

$(BUILD)/lib/runner.a: $(BUILD)/obj/autograder/runner.o $(BUILD)/obj/common/operations/calls/operation_call.o $(RUNTIME_OBJ)
$(BUILD)/lib/run.a:    $(BUILD)/obj/autograder/run.o $(call objects_of,autograder/trial) \
    $(BUILD)/obj/common/operations/calls/operation_call.o $(RUNTIME_OBJ)
$(BUILD)/lib/simulate.a: $(BUILD)/obj/autograder/simulate.o $(RUNTIME_OBJ)
$(BUILD)/lib/debug.a: $(BUILD)/obj/autograder/debug_program.o $(RUNTIME_OBJ)
$(BUILD)/lib/engine-sim.a: $(BUILD)/obj/common/cuda/engine/engine_sim.o $(RUNTIME_OBJ)
$(BUILD)/lib/runner-modules.a: $(call objects_of,$(filter-out \
    common/cuda/runtime,$(USES_autograder/runner.c)))
$(BUILD)/lib/run-modules.a:    $(call objects_of,autograder/findings $(filter-out common/cuda/runtime \
    autograder/trial,$(USES_autograder/run.c)))
$(SUBMISSION_LIBS) $(BUILD)/lib/engine-sim.a: # q, not r: files of two modules may have the same name
	$(call say,AR,$@)
	@mkdir -p $(@D)
	$(Q)rm -f $@ && ar qcs $@ $^

# These tests need an operation, and the modules that they test contain none.
JUDGING_TESTS := common/operations/conv_diagnosis/test_diagnose common/operations/conv_diagnosis/test_order \
    autograder/session/test_session autograder/session/test_session_device \
    datasets/tool_maps datasets/tool_recordings datasets/test_recordings
$(foreach t,$(JUDGING_TESTS),$(eval USES_$(t).c := common/operations/catalog $(USES_common/operations/catalog)))
$(foreach t,$(JUDGING_TESTS),$(eval $(BUILD)/tests/$(t): $(call archives_of,$(USES_$(t).c))))

# This test compiles a library and opens it; the library uses all of the runtime.
USES_common/cuda/sim/test_end_to_end.c := common/cuda/runtime $(USES_common/cuda/sim)
$(BUILD)/tests/common/cuda/sim/test_end_to_end: $(RUNTIME_OBJ)
$(BUILD)/tests/common/cuda/sim/test_end_to_end: LDFLAGS += -rdynamic
# These tests compare the instruction sets with one another.
LEVEL_TESTS := $(addprefix common/simulator/tests/test_,simt simt_sums simt_cycles simt_races) \
    common/simulator/conformance/test_conformance
$(LEVEL_TESTS:%=$(BUILD)/tests/%): $(patsubst %,$(BUILD)/obj/$(EXEC)/%.o,variants_all \
    $(EXEC_SETS:%=exec_%))
# These tests make allocations fail.
$(BUILD)/tests/common/simulator/tests/test_simt_memory $(BUILD)/tests/common/cuda/sim/test_sim_memory: \
    LDFLAGS += -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc

# ---- second stage: files that other targets need built --------------------------------------------
.PHONY: graders tools tests benches objects fuzzers modules
modules: # dependencies of each module and of single files, for autograder/tests/modules
	@$(foreach u,$(filter USES_%,$(.VARIABLES)),echo '$(u:USES_%=%) $($(u))';)
# The handlers are the longest compilation, so they come first.
graders: $(VECTORS_BUILT:%=$(BUILD)/obj/$(EXEC)/exec_%.o) $(BUILD)/bin/grade $(BUILD)/bin/device $(BUILD)/lib/runner.a $(BUILD)/lib/runner-modules.a \
    $(CALL_OBJ) $(call archive_of,common/operations/calls)
	@:
tools: graders $(BUILD)/bin/lab $(SUBMISSION_LIBS) $(call archive_of,autograder/trial)
	@:
tests: $(TESTS)
	@:
benches: $(BENCHES)
	@:
objects: $(patsubst %.c,$(BUILD)/obj/%.o,$(foreach r,$(MODULES),$(wildcard $(r)/*.c)))
	@:
fuzzers: $(FUZZERS)
	@:
$(FUZZERS): LDFLAGS += -fsanitize=fuzzer
$(FUZZERS): | fuzzer-compiler
.PHONY: fuzzer-compiler
fuzzer-compiler: # gcc has none
	$(Q)$$CC -fsanitize=fuzzer -fsyntax-only -x c /dev/null 2>/dev/null || { \
	    echo "fuzzers: $$CC has no -fsanitize=fuzzer; make fuzz builds them with clang" >&2; exit 1; }
