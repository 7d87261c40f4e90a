# Applications of the labs: data sets, training, sweeps, serving.

#:   make maps [SEED=n]
#:                       feature maps like VGG-19's into build/maps; one of them as
#:                       input of a run: make run LAB=13
#:                       MAPS=build/maps/conv5_1.txt SHAPE='K=512 R=3 S=3 ...'
.PHONY: maps
maps:
	$(call stage,$(BUILD)/tests/datasets/tool_maps)
	$(Q)mkdir -p $(BUILD)/maps
	$(Q)$(BUILD)/tests/datasets/tool_maps write $(BUILD)/maps "$${SEED:-1}"
	$(Q)$(BUILD)/tests/datasets/tool_maps list $(BUILD)/maps

#:   make datasets [SET=digits|recordings|mnist|fashion-mnist] [SEED=n]
#:                       digits for training, into build/datasets
#:                       (datasets/README.md)
QUIET_TARGETS += datasets
datasets-answer:
	$(call stage,$(BUILD)/tests/datasets/tool_digits $(BUILD)/tests/datasets/tool_recordings)
	$(Q)$(plus)sh datasets/datasets.sh "$$BUILD" "$$SET" "$$SEED"; $(save_status)

#:   make train [DATA=digits-8x8|digits|mnist] [EPOCHS=n] [SEED=n] [RESUME=1]
#:        [WINDOW=1] [CHECK=100]
#:                       lab 18's training step on a set of digits: curves,
#:                       misclassified digits, weights; DATA=recordings: lab 19's
QUIET_TARGETS += train
TRAIN_PARTS := $(addprefix $(BUILD)/,obj/common/apps/train/train_main.o lib/train.a lib/datasets.a \
    lib/engine-sim.a lib/run-modules.a tests/datasets/tool_digits)
train-answer:
	$(call stage,$(TRAIN_PARTS))
	$(Q)$(plus)sh common/apps/train/train.sh "$$BUILD" "$$DATA" "$$EPOCHS" "$$SEED" "$$ENGINE"; $(save_status)

#:   make sweep [LAB="02 10"] [SHAPE='N=1 C=256 H=14 W=14 K=% ...']
#:        [OVER=32:640:32] [GPU="titanv h200"]
#:                       time of a layer as the % in SHAPE grows, predicted and
#:                       measured (labs/20-tail); on a GPU, cudnn-fp32, -tf32,
#:                       -fastest, -fft ... are labs, too
QUIET_TARGETS += sweep
sweep-answer:
	$(call stage,tools $(BUILD)/tests/common/apps/tail/tool_stairs)
	$(Q)$(plus)sh common/apps/tail/sweep.sh "$$BUILD" "$$NVCC" "$$LAB" "$$SHAPE" "$$OVER" "$$ENGINE" "$$GPU" "$$JOBS"; $(save_status)

#:   make widths [NETWORK=vgg-16-pruned] [LAB=10] [BATCH=1] [TAU=50]
#:        [MODE=latency|parameters] [GPU=titanv]
#:                       lab 20's layer widths that suit a GPU, measured before and
#:                       after
QUIET_TARGETS += widths
WIDTHS_PARTS := $(BUILD)/obj/common/apps/tail/plan_main.o $(call archives_of,common/operations/conv \
    common/operations/operation common/base)
widths-answer:
	$(call stage,tools $(WIDTHS_PARTS))
	$(Q)$(plus)sh common/apps/tail/widths.sh "$$BUILD" "$$NVCC" "$$NETWORK" "$$LAB" "$$MODE" "$$TAU" "$$BATCH" "$$ENGINE" "$$GPU" "$$JOBS"; $(save_status)

#:   make serve LAB=16 CASE=lenet [LIMIT=7] [WINDOW=0.2] [BATCH=n] [QUEUE=n]
#:        [METRICS=port]
#:                       your kernels answer the clients of a socket, each within
#:                       LIMIT milliseconds or not at all (docs/student/serve.md)
QUIET_TARGETS += serve
LAB_TARGETS   += serve
SERVE_PARTS := $(addprefix $(BUILD)/,obj/common/apps/serve/serve_main.o lib/calls.a lib/serve.a \
    lib/batches.a lib/engine-sim.a lib/run-modules.a bin/lab bin/load) $(CALL_OBJ)
serve-answer:
	$(call stage,$(SERVE_PARTS))
	$(Q)$(plus)sh common/apps/serve/serve.sh "$$BUILD" "$$LAB" "$$ENGINE"; $(save_status)

#:   make load [RATE=n] [SECONDS=5] [CLIENTS=16] [EACH=n] [CHECK=1] [SHOW=metrics]
#:                       such clients: RATE requests per second, or as many as the
#:                       server answers
QUIET_TARGETS += load
load-answer:
	$(call stage,$(BUILD)/bin/load)
	$(Q)$(plus)$(BUILD)/bin/load SOCKET="$${SOCKET:-$$BUILD/serve/socket}" RATE="$$RATE" SECONDS="$$SECONDS" CLIENTS="$$CLIENTS" EACH="$$EACH" \
	    THREADS="$$THREADS" LIMIT="$$LIMIT" SEED="$$SEED" CHECK="$$CHECK" OUT="$$OUT" SHOW="$$SHOW"; $(save_status)
