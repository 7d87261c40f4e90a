# Modules, and the modules that each may use.
#
# Each module is one archive.  A module's tests are linked with its archive and with the archives that
# it may use, so a wrong dependency does not link.
USES_common/base   :=
USES_common/operations/operation := common/base
USES_common/operations/conv   := common/operations/operation common/base
USES_common/operations/conv_diagnosis := common/operations/conv common/operations/operation common/base
USES_common/operations/training_step := common/operations/operation common/base
USES_common/operations/depthwise := common/operations/operation common/base
USES_common/operations/int8 := common/operations/conv common/operations/operation common/base
USES_common/operations/calls :=
USES_common/operations/catalog := common/operations/depthwise common/operations/int8 common/operations/training_step common/operations/conv_diagnosis common/operations/conv common/operations/operation \
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
USES_common/cuda/cublas := common/cuda/runtime $(USES_common/cuda/runtime)
USES_common/cuda/cufft  := common/cuda/runtime $(USES_common/cuda/runtime)
USES_common/cuda/curand := common/cuda/runtime $(USES_common/cuda/runtime)
USES_common/cuda/driver := common/cuda/runtime $(USES_common/cuda/runtime)
USES_common/cuda/nvrtc :=
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
USES_autograder/lms     := autograder/text common/base
USES_autograder/class   := autograder/lms autograder/record $(USES_autograder/record)
USES_autograder/export  := autograder/class autograder/lms autograder/record $(USES_autograder/record)
USES_autograder/findings := autograder/text common/base
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
USES_autograder/workbench := autograder/record $(USES_autograder/record)
USES_autograder         := autograder/options autograder/handout autograder/export \
    autograder/class autograder/lms autograder/judging autograder/mutate autograder/profile \
    autograder/see \
    autograder/session autograder/build autograder/sandbox autograder/tensors \
    autograder/record autograder/lab autograder/text common/operations/catalog $(USES_common/operations/catalog) \
    common/cuda/paired_timing common/cuda/gpu common/cuda/sim \
    $(USES_common/cuda/sim)
MODULES := common/base common/operations/operation common/operations/conv common/operations/conv_diagnosis common/operations/training_step common/operations/depthwise common/operations/int8 \
    common/operations/catalog common/operations/calls common/cuda/paired_timing common/simulator/sass common/simulator/ptx \
    $(addprefix common/simulator/,machine core decode checks traffic ptxas sass_map timing exec) \
    common/simulator/launch common/simulator/tests common/cuda $(addprefix common/cuda/,runtime gpu sim cublas cufft curand driver nvrtc) common/simulator/conformance \
    common/debugger common/debugger/ui common/simulator/validation common/apps/tail datasets common/cuda/engine common/apps/train common/apps/serve/batches \
    common/apps/serve \
    $(addprefix autograder/,text options sandbox build session tensors lab mutate record lms class \
    export findings profile see trial judging handout workbench tests/predictions) autograder

# Sources that are in no archive: programs, and a module's test_*, bench_*, fuzz_* and tool_*, which
# have a main function (tool_x: $(BUILD)/tests/<module>/tool_x).  The entry points' calls need the
# toolkit's headers and are linked into the runner.
WITHOUT_ARCHIVE    := $(filter-out %/operation_call.c,$(wildcard common/operations/calls/*.c))
PROGRAMS := grade device runner run simulate debug debug_program lab doctor class export handout workbench
WITHOUT_ARCHIVE    += common/apps/tail/plan_main.c common/simulator/validation/measure_sim.c common/cuda/engine/engine_gpu.c \
    common/apps/train/train_main.c common/apps/serve/serve_main.c common/apps/serve/load_main.c \
    $(PROGRAMS:%=autograder/%.c) $(foreach r,$(MODULES),$(wildcard $(r)/test_*.c $(r)/bench_*.c \
    $(r)/fuzz_*.c $(r)/tool_*.c))

# The handlers of the simulated GPU are compiled once per instruction set, a fifth of a first build.
# The programs get those for this machine's processor (setup finds it), and the sets of earlier builds
# in the same folder.  VECTORS=all is for programs that other machines run, too.  clang compiles the
# first set only, and the others to nothing.
EXEC          := common/simulator/exec
EXEC_SETS     := base avx2 avx512
EXEC_STAMP    := $(BUILD)/obj/vectors
VECTORS_BUILT := $(if $(VECTORS)$(findstring clang,$(notdir $(CC))),$(EXEC_SETS),$(or $(filter \
    $(CPU_VECTORS) $(file <$(EXEC_STAMP)),$(EXEC_SETS)),$(EXEC_SETS)))
WITHOUT_ARCHIVE += $(EXEC)/variants_all.c $(patsubst %,$(EXEC)/exec_%.c,$(filter-out \
    $(VECTORS_BUILT),$(EXEC_SETS)))

source_of  = $(filter-out $(WITHOUT_ARCHIVE),$(wildcard $(1)/*.c))
archive_of = $(BUILD)/lib/$(notdir $(1)).a
# Archives of a list of modules.  autograder itself has programs and no archive.
archives_of = $(foreach r,$(1),$(if $(call source_of,$(r)),$(call archive_of,$(r))))
objects_of  = $(patsubst %.c,$(BUILD)/obj/%.o,$(foreach r,$(1),$(call source_of,$(r))))
BENCHES   := $(patsubst %.c,$(BUILD)/tests/%,$(foreach r,$(MODULES),$(wildcard $(r)/bench_*.c)))
FUZZERS   := $(patsubst %.c,$(BUILD)/tests/%,$(foreach r,$(MODULES),$(wildcard $(r)/fuzz_*.c)))
TESTS     := $(patsubst %.c,$(BUILD)/tests/%,$(foreach r,$(MODULES),$(wildcard $(r)/test_*.c)))
# clang 14 has no _Float16 on x86-64, which two tests compare with.
ifneq ($(findstring clang,$(notdir $(CC))),)
ifneq ($(shell echo '_Float16 half;' | $(CC) -x c -fsyntax-only - 2>&1),)
TESTS := $(filter-out %/test_simt_sums %/test_simt_tensor,$(TESTS))
endif
endif

# ---- objects and archives --------------------------------------------------------------------------
# One shell: three would take 2 s of a first build.
$(BUILD)/obj/%.o: %.c
	$(call say,CC,$<); [ -d $(@D) ] || mkdir -p $(@D); exec $$CCACHE $$CC $$COMPILE_FLAGS -c $< -o $@

# The interpreter's inner loops need full optimisation.
$(BUILD)/obj/common/simulator/%.o: CFLAGS += -O3
# These modules run once per kernel, call or case, or are plain loops over double.  -O1 compiles
# them in two thirds of the time of -O2.
ifeq ($(DEFAULT_FLAGS),yes)
BRIEF := autograder common/base common/cuda common/operations datasets \
    $(addprefix common/simulator/,decode machine ptx sass)
$(foreach m,$(BRIEF),$(eval $(BUILD)/obj/$(m)/%.o: CFLAGS += -O1))
$(foreach m,autograder/tensors $(addprefix common/operations/,conv int8) \
    $(addprefix common/simulator/,checks core launch ptxas sass_map),$(eval \
    $(BUILD)/obj/$(m)/%.o: CFLAGS += -O2))
$(addprefix $(BUILD)/obj/common/simulator/exec/,device_call.o texture.o): CFLAGS += -O1
endif
# Vectors are passed only within one file, so their calling convention does not matter.
$(BUILD)/obj/common/simulator/exec/%.o $(BUILD)/obj/common/operations/catalog/electrode_network.o: \
    CFLAGS += -Wno-psabi
# gcc gets these options from a pragma.
ifneq ($(findstring clang,$(notdir $(CC))),)
$(BUILD)/obj/common/simulator/exec/%.o: CFLAGS += -fno-strict-aliasing -fno-math-errno -fno-trapping-math
$(BUILD)/obj/common/cuda/gpu/test_gpu_device.o: CFLAGS += -Wno-c2x-extensions
endif
# Nearly every x86-64 processor has AVX2.  The handlers for other processors are rarely used there,
# and compile in half the time with -O1.
ifneq ($(filter x86_64-%,$(MAKE_HOST)),)
$(BUILD)/obj/common/simulator/exec/exec_base.o: CFLAGS += -O1
endif
# A build of other sets makes the programs again.
$(BUILD)/obj/$(EXEC)/variants.o: CPPFLAGS += $(if $(filter base,$(VECTORS_BUILT)),-DEXEC_BASE) \
    $(if $(filter avx2,$(VECTORS_BUILT)),-DEXEC_AVX2) \
    $(if $(filter avx512,$(VECTORS_BUILT)),-DEXEC_AVX512)
$(BUILD)/obj/$(EXEC)/variants.o: $(EXEC_STAMP)
$(EXEC_STAMP): always
	@mkdir -p $(@D)
	$(Q)echo '$(VECTORS_BUILT)' | cmp -s - $@ || echo '$(VECTORS_BUILT)' >$@
# Tests run for seconds, and full optimisation takes a third of their compilation.
$(TESTS:$(BUILD)/tests/%=$(BUILD)/obj/%.o): CFLAGS += -O1
# The only files that include the toolkit's headers.
$(BUILD)/obj/common/cuda/runtime/%.o $(BUILD)/obj/common/operations/calls/%.o \
    $(addprefix $(BUILD)/obj/common/apps/serve/,executor.o pool.o test_pool.o): \
    CPPFLAGS += -isystem $(CUDA_INCLUDE)

# CUDA's libraries are compiled with the headers that programs get if the toolkit lacks them.
CUDA_LIBRARIES := cublas cufft curand driver nvrtc
CUDA_LIBRARY_ARCHIVES := $(CUDA_LIBRARIES:%=$(BUILD)/lib/%.a)
$(foreach l,$(CUDA_LIBRARIES),$(BUILD)/obj/common/cuda/$(l)/%.o): \
    CPPFLAGS += -isystem common/include/cuda -isystem $(CUDA_INCLUDE)

define module_rules
$(call archive_of,$(1)): $(call objects_of,$(1))
	$$(call say,AR,$$@)
	@mkdir -p $$(@D)
	$$(Q)rm -f $$@ && ar rcs $$@ $$^

$(BUILD)/tests/$(1)/%: $(BUILD)/obj/$(1)/%.o $(call archives_of,$(1) $(USES_$(1)))
	$$(call say,LD,$$@)
	@mkdir -p $$(@D)
	$$(Q)$$$$CC $$$$LINK_FLAGS $$(filter %.o,$$^) -Wl,--start-group $$(filter %.a,$$^) -Wl,--end-group \
	    $$$$LINK_LIBS -lcmocka -o $$@
endef
$(foreach r,$(MODULES),$(eval $(call module_rules,$(r))))
