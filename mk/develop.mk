# Targets that change the workbook, or measure it.

#:   make handout [LAB="01 02"] [OUT=dir] [REMOVE="01"]
#:                       a student's copy: a git repository, one commit per release
#:   make new-lab LAB=30 NAME=mine [OPERATION=conv_forward|new]
#:                       every file of a new lab, small and working
#:                       (docs/developer/writing-a-lab.md)
#:   make variant SEED=2027 OUT=../workbook-2027 [LAB="02 04"]
#:        [AGAINST=../workbook-2026]
#:                       labs 01 to 04 with other orders in memory and other
#:                       sizes, so that last year's solutions are wrong
#:                       (docs/instructor/variants.md)
#:   make keep LAB=04            the skeleton in labs/ becomes the pristine copy
.PHONY: handout new-lab variant keep
LAB_TARGETS += keep
OWN_TARGETS += handout new-lab variant keep
# Compiled objects of the copy, so that a student's first build is short.  The copy has no module
# handout; variants.o depends on the student's processor.
HANDOUT_OBJECTS = $(filter-out $(BUILD)/obj/autograder/handout/% %/exec/variants.o,$(sort \
    $(call objects_of,$(USES_autograder) $(USES_autograder/run.c) $(USES_autograder/runner.c) \
    $(USES_autograder/simulate.c)) $(CALL_OBJ) \
    $(patsubst %,$(BUILD)/obj/autograder/%.o,grade device lab run runner simulate debug_program)))
$(BUILD)/handout-objects.tar.gz: $(HANDOUT_OBJECTS) common/setup/objects.sh
	$(call say,GEN,$@)
	$(Q)sh common/setup/objects.sh pack $(BUILD) $@ $(filter %.o,$^)

handout: export VECTORS := all
handout: # objects with other flags, for example with a sanitizer, cannot be linked there
	$(call stage,tools $(BUILD)/bin/handout $(if $(SANITIZE),,$(if $(DEFAULT_FLAGS),$(BUILD)/handout-objects.tar.gz)))
	$(Q)sh autograder/handout/handout.sh "$$BUILD" "$${OUT:-$$BUILD/handout}" "$$LAB" "$$REMOVE"

new-lab:
	$(Q)sh common/setup/new_lab.sh "$$LAB" "$$NAME" "$${OPERATION:-conv_forward}"
	$(call stage,tools $(NUMBER_TOOLS))
	$(Q)sh docs/numbers/numbers.sh "$$BUILD" write "$$LAB"
	$(Q)sh docs/numbers/numbers.sh "$$BUILD" write labs
	$(Q)$(BUILD)/bin/lab check $(where)
	@echo '  The lab can be graded, checked and tested now.  Next steps: docs/developer/writing-a-lab.md'

variant:
	$(Q)[ -n "$$SEED" ] && [ -n "$$OUT" ] || { echo 'usage: make variant SEED=2027 OUT=../workbook-2027' >&2; exit 1; }
	$(call stage,tools $(BUILD)/tests/autograder/test_corpus)
	$(Q)python3 common/setup/variant/variant.py $${AGAINST:+--against "$$AGAINST"} -- "$$BUILD" "$$SEED" "$$OUT" "$$LAB"

keep:
	$(call stage,$(BUILD)/bin/lab)
	$(Q)$(BUILD)/bin/lab $@ $(where) --lab "$$LAB"

#:   make bench                  speed of the simulator and of this machine's GPU
#:   make validate [GPU=h200|h100] [MACHINE=name|file.ini]
#:                       the simulator compared with a GPU's measurements
#:                       (docs/simulator/validation.md)
#:   make ablation [SETS=mma-tiles] [MECHANISMS=fences] [MOST=1500000]
#:        [LAUNCHES=20]
#:                       the simulator's error without each mechanism of its
#:                       time model, on all cores: docs/simulator/ablation.md
#:   make compare
#:                       every solution compared with cuDNN on this machine's GPU
#:                       (docs/student/compare.md)
#:   make networks
#:                       ResNet-18 and MobileNetV2 from the labs' kernels, compared
#:                       with PyTorch on this GPU (docs/student/compare.md)
#:   make tune
#:                       tile sizes of labs 10, 12, 14 and 15, measured on this
#:                       machine's GPU (docs/student/compare.md)
.PHONY: bench validate ablation compare networks tune
OWN_TARGETS += bench validate ablation compare networks tune
bench:
	$(call stage,tools benches)
	$(Q)sh common/setup/bench.sh "$$BUILD"

validate:
	$(call stage,validators)
	$(Q)sh common/simulator/validation/validate.sh --jobs "$$JOBS" "$$BUILD" "$${GPU:-h200}" "$${MACHINE:-$${GPU:-h200}}"

# Parameters, and not shell text: the names of sets and mechanisms are checked by the program.
ablation:
	$(call stage,validators)
	$(Q)python3 common/simulator/validation/ablation.py "$$BUILD" "$$BUILD/ablation.tsv" \
	    --sets "$$SETS" --mechanisms "$$MECHANISMS" --most "$${MOST:-1500000}" \
	    --launches "$${LAUNCHES:-20}" --seconds "$${SECONDS:-0}"

compare:
	$(call stage,tools)
	$(Q)sh common/apps/compare/compare.sh "$$BUILD" "$$NVCC"

networks:
	$(Q)sh common/apps/compare/networks.sh "$$NVCC" "$$BUILD/compare"

tune:
	$(Q)sh common/apps/compare/tune.sh "$$BUILD" "$$NVCC"
