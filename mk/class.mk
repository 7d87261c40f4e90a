# Targets that an instructor uses on a class.

#:   make class SUBMISSIONS=dir [LAB=04] [RESULTS=dir] [DEADLINE=2026-10-01T12:00]
#:        [ROSTER=file.csv] [GRACE=15m] [PENALTY=10] [COUNTS=best] [ATTEMPTS=n]
#:        [RUBRIC=file.ini] [REGRADE=stale] [JOBS=n] [SEED=n] [DATE=2026-10-05]
#:                       a whole class into one gradebook; the same command resumes
#:                       (docs/instructor/class.md); ENGINE=slurm or slurm-gpu
#:                       [SBATCH=options]: on a cluster's nodes
#:   make class EXPLAIN=student [RESULTS=dir]
#:                       explanation of each point of the student, for appeals
QUIET_TARGETS += class
class-answer: export VECTORS := $(if $(filter slurm%,$(ENGINE)),all,$(VECTORS))
class-answer: # similarity-tester compares the submissions with one another
	$(Q)$(plus)sh common/setup/setup.sh "$$BUILD" similarity-tester
	$(call stage,tools $(BUILD)/bin/class)
	$(Q)$(plus)$(BUILD)/bin/class $(where) --submissions "$$SUBMISSIONS" \
	    $${LAB:+--lab "$$LAB"} $${SEED:+--seed "$$SEED"} \
	    --results "$$RESULTS" --deadline "$$DEADLINE" --roster "$$ROSTER" --rubric "$$RUBRIC" \
	    $${DATE:+--date "$$DATE"} \
	    --grace "$$GRACE" --penalty "$$PENALTY" --counts "$$COUNTS" --attempts "$$ATTEMPTS" \
	    --regrade "$$REGRADE" --engine "$$ENGINE" --gpu "$$GPU" --jobs "$$JOBS" \
	    --sbatch "$$SBATCH" --explain "$$EXPLAIN"; $(save_status)

#:   make export FORMAT=junit [RESULTS=dir] [OUT=file]
#:                       the last grade in another system's format
#:
#:   make export FORMAT=canvas [LAB=04] [ITEMS="04=Lab 4 (1234)"] [COURSE=id]
#:        [SINCE=file] [ANONYMOUS=1] [OUT=file]
#:                       marks of a class; FORMAT=feedback OUT=dir: a page per
#:                       student (docs/instructor/export.md)
QUIET_TARGETS += export
# make's own output goes to standard error, so that standard output has only the format.
export-answer:
	$(call stage,$(BUILD)/bin/export) >&2
	$(Q)$(plus)$(BUILD)/bin/export --build "$$BUILD" --format "$$FORMAT" \
	    --results "$$RESULTS" --gradebook "$$GRADEBOOK" --out "$$OUT" \
	    --lab "$$LAB" --since "$$SINCE" --items "$$ITEMS" --course "$$COURSE" \
	    $${ANONYMOUS:+--anonymous}; $(save_status)

#:   make bundle PLATFORM=gradescope|autolab|classroom [LAB=02]
#:                       the archive that an instructor uploads there
QUIET_TARGETS += bundle
OWN_TARGETS   += bundle
bundle-answer:
	$(Q)$(plus)sh common/setup/bundle.sh "$$BUILD" "$$PLATFORM" "$$LAB"; $(save_status)
