# Targets of the simulated GPU.

#:   make simulate PROGRAM="file.cu more.cu" [ARGS='...'] [GPU=h200] [PROFILE=1]
#:        [PRICE=all] [KERNEL=name] [LAUNCH=n] [TRACE=file.json]
#:        [LAUNCHES=n] [REPORT=file.sarif] [SUPPRESSIONS=file]
#:                       any CUDA program on the simulated GPU: checks, cycles,
#:                       counters (docs/simulator/simulate.md)
QUIET_TARGETS += simulate
simulate-answer:
	$(call stage,$(BUILD)/bin/simnvcc)
	$(Q)$(plus)sh common/setup/simulate.sh "$$BUILD" "$$PROGRAM" "$$ARGS"; $(save_status)

#:   make simnvcc
#:                       build/bin/simnvcc, a compiler in place of nvcc: it builds
#:                       projects of several files for the simulated GPU
#:                       (docs/simulator/simnvcc.md)
.PHONY: simnvcc
simnvcc:
	$(call stage,$(BUILD)/bin/simnvcc)
	@echo "  $$(realpath "$$BUILD")/bin/simnvcc"

# The library takes the place of the toolkit's static runtime.  It is a linker script that names the
# simulated GPU and the libraries that it needs.
$(BUILD)/bin/simnvcc: $(BUILD)/lib/simulate.a $(BUILD)/lib/run-modules.a \
    $(addprefix $(BUILD)/lib/,debug.a debugger.a ui.a) \
    $(CUDA_LIBRARY_ARCHIVES) common/setup/simnvcc_library.sh common/setup/simnvcc.sh \
    mk/simulator.mk
	$(call say,GEN,$@)
	@mkdir -p $(@D) $(BUILD)/simnvcc
	$(Q)sh common/setup/simnvcc_library.sh "$$BUILD" "$$BUILD/simnvcc" \
	    "$$(realpath common/simulator/gpus)"
	$(Q)printf '#!/bin/sh\nexec sh "%s" "%s" "$$@"\n' "$$(realpath common/setup/simnvcc.sh)" \
	    "$$(realpath "$$BUILD")" >$@ && chmod +x $@

#:   make simcuda
#:                       build/simcuda/libcuda.so.1, CUDA's driver on the
#:                       simulated GPU: for Numba and other packages of Python
#:                       (docs/simulator/driver.md)
.PHONY: simcuda
simcuda:
	$(call stage,$(BUILD)/simcuda/libcuda.so.1)
	@echo "  LD_LIBRARY_PATH=$$(realpath "$$BUILD")/simcuda"

$(BUILD)/simcuda/libcuda.so.1: $(BUILD)/bin/simnvcc $(BUILD)/lib/driver.a $(BUILD)/lib/nvrtc.a \
    common/setup/simcuda.sh
	$(call say,GEN,$@)
	$(Q)sh common/setup/simcuda.sh "$$BUILD"

#:   make install PREFIX=/usr/local
#:                       installs simnvcc, simrun and their manual pages
.PHONY: install
install: export VECTORS := all
install:
	$(call stage,$(BUILD)/bin/simnvcc)
	$(Q)sh common/setup/install/install.sh "$$BUILD" "$${PREFIX:-/usr/local}"

#:   make machine [NAME=mycard]
#:                       measures this machine's GPU: its description for GPU=
#:                       (docs/simulator/machines.md)
QUIET_TARGETS += machine
machine-answer:
	$(Q)$(plus)sh common/setup/machine.sh "$$BUILD"; $(save_status)

#:   make debug PROGRAM=file.cu [ARGS='...'] | LAB=04 [CASE=name]
#:        [COMMANDS=file]
#:                       a debugger for kernels on the simulated GPU: breakpoints,
#:                       32 lanes at once, steps backwards (docs/student/debug.md)
QUIET_TARGETS += debug
# The debugger is linked with a lab's case or with a program; nvcc -G compiles both.
DEBUG_PARTS := $(addprefix $(BUILD)/lib/,debug.a debugger.a ui.a run.a run-modules.a) $(CALL_OBJ) \
    $(addprefix $(BUILD)/bin/,lab debug)
# The adapter that an editor starts (build/bin/debug --dap), and the parts that it links with
# programs.
.PHONY: debug-adapter
debug-adapter:
	$(call stage,$(DEBUG_PARTS))

debug-answer:
	$(call stage,$(DEBUG_PARTS))
	$(Q)$(plus)sh common/setup/debug.sh "$$BUILD" "$$LAB" "$$PROGRAM" "$$ARGS"; $(save_status)
