# Entry point.  `make` alone shows the state of every lab, `make help` all targets; V=1 shows the
# commands; BUILD=dir builds in another folder.  Each file of mk/ has the targets of one subject,
# with their help text (#:) next to them.
#
# Every target except help, labs and clean first runs setup.  This target writes the tools that it
# found into build/toolchain.env (NVCC, CUDA_INCLUDE, CC, CXX, CCACHE).  mk/toolchain.mk includes
# that file, so make reads its files again after setup has written it.  Therefore the first call in
# a fresh clone already has a compiler.

#
# A user's value is text.  A folder may be called x';cmd;' or $(shell cmd).  Make expands neither,
# because the two foreach lines below take values without expansion.  No recipe has a value in its
# text: it reads "$$SUBMISSION" from its environment, to which make exports PARAMETERS.
# autograder/tests/names tries such names.

PARAMETERS := BUILD ENGINE GPU SEED CLANG JOBS NVCC CUDA_INCLUDE CC CXX CCACHE \
    SUBMISSION LAB TODO CASE SHAPE MAPS WEIGHTS FAIL_UNDER VERBOSE PTX AGAINST LINE PICTURE FILTER \
    SUBMISSIONS RESULTS DEADLINE SBATCH EXPLAIN ROSTER RUBRIC DATE GRACE PENALTY COUNTS ATTEMPTS \
    REGRADE FORMAT GRADEBOOK OUT FROM REMOVE PLATFORM SINCE ITEMS COURSE ANONYMOUS \
    NAME OPERATION SAMPLE SHARD KNOWN SECONDS \
    SETS MECHANISMS MOST LAUNCHES \
    SET DATA EPOCHS RESUME STOP CHECK WINDOW \
    OVER NETWORK MODE TAU BATCH \
    PORT SOCKET QUEUE LIMIT MARGIN METRICS RATE CLIENTS EACH THREADS SHOW \
    VECTORS PROGRAM ARGS PROFILE ARCH NVCCFLAGS FILES COMMANDS MACHINE KERNEL LAUNCH REPORT SUPPRESSIONS PREFIX DESTDIR
SETTINGS := $(PARAMETERS) LONG QUICK LOWER V CI STRICT CPPFLAGS CFLAGS LDFLAGS LDLIBS WARN SANITIZE
$(foreach v,$(.VARIABLES),$(if $(filter command,$(origin $(v))),$(eval override $(v) := $$(value $(v)))))
$(foreach v,$(SETTINGS),$(if $(filter environment,$(origin $(v))),$(eval $(v) := $$(value $(v)))))

BUILD   ?= build
SUBMISSION ?= labs
ENGINE  ?= auto
CLANG   ?= clang-14
JOBS    := $(or $(JOBS),$(shell nproc 2>/dev/null || echo 1))
# Only the command line chooses compilers: an environment's CC may be that of another tool.
CHOSEN_NVCC := $(NVCC)
CHOSEN_CC   := $(if $(filter override,$(origin CC)),$(CC))
CHOSEN_CXX  := $(if $(filter override,$(origin CXX)),$(CXX))
export CHOSEN_NVCC CHOSEN_CC CHOSEN_CXX $(PARAMETERS)

.DEFAULT_GOAL := labs
MAKEFLAGS += --no-builtin-rules --no-print-directory

# BUILD is the only value in targets and prerequisites, where make allows no spaces or quotes.
PLAIN := / . _ - + @ , 0 1 2 3 4 5 6 7 8 9 a b c d e f g h i j k l m n o p q r s t u v w x y z \
    A B C D E F G H I J K L M N O P Q R S T U V W X Y Z
without = $(if $(2),$(call without,$(subst $(firstword $(2)),,$(1)),$(wordlist 2,99,$(2))),$(1))
ifneq ($(if $(BUILD),$(call without,$(BUILD),$(PLAIN))$(filter -%,$(BUILD)),empty),)
$(error BUILD is a path of letters, digits and / . _ - + @ and commas, and does not start with -)
endif

Q := @
ifeq ($(V),1)
.SHELLFLAGS := -xc
endif
# FILES_ALL: number of files that a first build compiles, from `stage`.  Make expands a recipe when it
# starts, so the list COMPILED has one word for each file so far.
say = @printf '  %-7s %s%s\n' '$(1)' '$(2)' '$(if $(FILES_ALL),$(if $(filter CC,$(1)),$(eval \
    COMPILED += x) ($(words $(COMPILED)) of $(FILES_ALL))))'

# A student's copy (autograder/handout) has no answer key and no tests.
COPY := $(wildcard labs/*/.sealed)

# Second make, for files that a target needs built.  It does not look for compilers again.  A student's
# copy has compiled objects, which are right for the default flags only.  FILES_ALL comes before
# plain_make, which removes a letter of MAKEFLAGS: some shells use that value in the next
# assignment.
define stage
$(if $(COPY),$(if $(SANITIZE),,$(if $(DEFAULT_FLAGS),$(Q)$(plus)sh common/setup/build_lock.sh "$$BUILD" sh \
    common/setup/objects.sh unpack "$$BUILD" common/objects.tar.gz "$$CUDA_INCLUDE")))
$(Q)+$(if $(wildcard $(BUILD)/obj),,FILES_ALL="$$($(plain_make) $(MAKE) -n \
    -o $(BUILD)/toolchain.env $(1) 2>/dev/null | grep -c "'CC'")") $(plain_make) sh common/setup/build_lock.sh "$$BUILD" $(MAKE) \
    $(if $(V),,-s) -j"$$JOBS" -o $(BUILD)/toolchain.env $(1)
endef
# Packages that one target needs and a student does not.
want  = $(Q)sh common/setup/setup.sh "$$BUILD" $(1)
# Options of the programs.
where = --root . --build "$$BUILD"
only  = $${LAB:+--lab "$$LAB"} $${CASE:+--case "$$CASE"} $${SEED:+--seed "$$SEED"}
shape = $${SHAPE:+--shape "$$SHAPE"} $${MAPS:+--maps "$$MAPS"} $${WEIGHTS:+--weights "$$WEIGHTS"}
whose = --submission "$$SUBMISSION" --gpu "$$GPU"

# The parts fill these lists.  Quiet targets have a recipe NAME-answer (mk/quiet.mk).
QUIET_TARGETS :=
LAB_TARGETS   := # targets that need LAB=NN
OWN_TARGETS   := # targets that a student's copy does not have

STUDENT_PARTS    := mk/labs.mk mk/simulator.mk mk/apps.mk mk/class.mk mk/toolchain.mk
MAINTAINER_PARTS := mk/tests.mk mk/develop.mk
include mk/toolchain.mk mk/modules.mk mk/programs.mk mk/validation.mk mk/labs.mk mk/simulator.mk \
    mk/apps.mk mk/class.mk $(MAINTAINER_PARTS) mk/quiet.mk

ifneq ($(if $(COPY),$(filter $(OWN_TARGETS),$(MAKECMDGOALS))),)
$(error $(firstword $(filter $(OWN_TARGETS),$(MAKECMDGOALS))): this is a student's copy; see make help)
endif

.SECONDARY:

#: The convolution lab workbook
#:
#:   make                        every lab, your best grade, the next lab
.PHONY: help labs
help:
	@sed -n $(if $(COPY),'/^#: *make solution/d; /SUBMISSION=solutions/d; /^#: *make bundle/{N;d;}; ')'s/^#: //p' \
	    Makefile $(STUDENT_PARTS) $(if $(COPY),,$(MAINTAINER_PARTS))

labs: FIRST = $(if $(COPY),LAB=$(firstword $(subst -, ,$(firstword $(LABS)))),SUBMISSION=solutions)
labs:
	@if [ -x $(BUILD)/bin/lab ]; then $(BUILD)/bin/lab list $(where); else \
	    echo '  Start with:  make grade $(FIRST)   (sets up, builds, grades)'; fi
	@echo; echo '  make grade LAB=NN; also run, hint, profile, see, ladder; make help lists all targets'

# The second make, which a quiet target starts, compiles; the quiet target itself compiles nothing.
ifndef quiet
-include $(shell find $(BUILD)/obj -name '*.d' 2>/dev/null)
endif
