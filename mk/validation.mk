# Kernels that were measured on a GPU and are simulated here (common/simulator/validation).
SET_ROOT   := common/simulator/validation/sets
MEASURED   := $(patsubst common/simulator/validation/data/h200/%-times.tsv,%,$(wildcard \
    common/simulator/validation/data/h200/*-times.tsv))
NVCC_FLAGS := -O3 -lineinfo -std=c++17 -cudart none -Wno-deprecated-gpu-targets -I. \
    -Icommon/include \
    -gencode arch=compute_90,code=[compute_90,sm_90]

$(BUILD)/validate/hopper-units.o: NVCC_FLAGS := $(filter-out -gencode arch=%,$(NVCC_FLAGS)) \
    -gencode arch=compute_90a,code=compute_90a -gencode arch=compute_90a,code=sm_90a

define compile_cuda
	$(call say,NVCC,$<)
	@mkdir -p $(@D)
	$(Q)"$$NVCC" $(NVCC_FLAGS) -c $< -o $@
endef
# Programs with many kernels each, one per set.  The other sets are the labs' solutions.
KERNEL_SETS := $(patsubst $(SET_ROOT)/%.cu,$(BUILD)/validate/run-%,$(wildcard $(SET_ROOT)/*.cu))
SET_OBJECTS := $(KERNEL_SETS:$(BUILD)/validate/run-%=$(BUILD)/validate/%.o)
$(SET_OBJECTS): $(BUILD)/validate/%.o: $(SET_ROOT)/%.cu common/simulator/validation/measure.h \
    $(wildcard $(SET_ROOT)/*.cuh)
	$(compile_cuda)
# The parts of a set's source are in the folder of its name.
$(foreach o,$(SET_OBJECTS),$(eval $(o): $(wildcard $(o:$(BUILD)/validate/%.o=$(SET_ROOT)/%/*.cuh))))

$(BUILD)/validate/lab_launches.o: common/simulator/validation/lab_launches.cu \
    common/simulator/validation/measure.h common/include/convlab/conv.h
	$(compile_cuda)
$(BUILD)/validate/lab-%.o: solutions/%/conv.cu common/include/convlab/conv.h
	$(compile_cuda)

VALIDATE_LIB := $(BUILD)/obj/common/simulator/validation/measure_sim.o \
    $(call archives_of,$(USES_common/simulator/validation))
$(KERNEL_SETS): $(BUILD)/validate/run-%: $(BUILD)/validate/%.o $(VALIDATE_LIB)
	$(call say,LD,$@)
	$(Q)$$CXX $$LINK_FLAGS $^ $$LINK_LIBS -o $@
$(BUILD)/validate/run-%: $(BUILD)/validate/lab-%.o $(BUILD)/validate/lab_launches.o $(VALIDATE_LIB)
	$(call say,LD,$@)
	$(Q)$$CXX $$LINK_FLAGS $^ $$LINK_LIBS -o $@

# Here, because programs.mk is read before MEASURED is set.
.PHONY: validators
validators: $(MEASURED:%=$(BUILD)/validate/run-%) \
    $(BUILD)/tests/common/simulator/validation/tool_validate $(BUILD)/bin/lab
	@:
