# Kernels that were measured on a GPU and are simulated here (common/simulator/validation).
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
# Programs with many kernels each.  The others are the labs' solutions.
KERNEL_SETS := $(patsubst %,$(BUILD)/validate/run-%,micro families strangers unseen blind suites public \
    field everyday forms textures spills hopper accesses lookups streams meetings pauses tiles)
$(KERNEL_SETS): $(BUILD)/validate/run-%: $(BUILD)/validate/%.o $(VALIDATE_LIB)
	$(call say,LD,$@)
	$(Q)$$CXX $$LINK_FLAGS $^ $$LINK_LIBS -o $@
$(KERNEL_SETS:$(BUILD)/validate/run-%=$(BUILD)/validate/%.o): common/simulator/validation/entries.h
$(patsubst %,$(BUILD)/validate/%.o,field public suites): common/simulator/validation/sums.h
$(BUILD)/validate/public.o: $(wildcard common/simulator/validation/public_*.h)
$(BUILD)/validate/field.o: $(wildcard common/simulator/validation/field_*.h)
$(BUILD)/validate/everyday.o: $(wildcard common/simulator/validation/everyday_*.h)
$(BUILD)/validate/run-%: $(BUILD)/validate/lab-%.o $(BUILD)/validate/layers.o $(VALIDATE_LIB)
	$(call say,LD,$@)
	$(Q)$$CXX $$LINK_FLAGS $^ $$LINK_LIBS -o $@
