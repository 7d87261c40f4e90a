# Targets whose failure is an ordinary result, such as a wrong answer.
#
# Make reports each failed recipe as "make: *** [...] Error 1", which suggests that something broke.
# Only with -q (--question) does make exit with 1 and print nothing.  The quiet targets therefore run
# under -q: their recipes start with + and run all the same, and store their status in a file.  The
# target's second recipe line then "needs remaking" if that status is not 0.  Simpler ways were tried
# and do not work: a recipe cannot redirect make's own standard error, .IGNORE and - print "Error 1
# (ignored)" and exit with 0, and $(error) prints "*** ... Stop.".  A wrapper script in place of make
# would change every command in the pages.  With other goals, -n or -t, make runs as usual.

# A missing LAB= or SUBMISSIONS= is answered by a question.
INCOMPLETE := $(filter $(if $(LAB),,$(LAB_TARGETS)) $(if $(SUBMISSIONS)$(EXPLAIN),,class),$(MAKECMDGOALS))
LETTERS    := $(filter-out --%,$(firstword -$(MAKEFLAGS)))
ifeq ($(filter-out $(QUIET_TARGETS) $(INCOMPLETE),$(or $(MAKECMDGOALS),labs))$(findstring n,$(LETTERS))$(findstring t,$(LETTERS)),)
MAKEFLAGS += --question
quiet := yes
plus  := +
plain_make = MAKEFLAGS="$${MAKEFLAGS%%q*}$${MAKEFLAGS\#*q}"
endif
save_status = echo $$? >"$$BUILD/answer.$@"

.PHONY: $(QUIET_TARGETS) $(QUIET_TARGETS:=-answer) complete
$(QUIET_TARGETS): %: %-answer
	$(if $(filter-out 0,$(file <$(BUILD)/answer.$@-answer)),@exit $(file <$(BUILD)/answer.$@-answer))

# Two lines: under -q, a single line would be executed whole or not at all.
complete:
	$(if $(INCOMPLETE),@$(plus)echo '$(if $(filter class,$(INCOMPLETE)),whose?  for example:  make class SUBMISSIONS=dir  (docs/instructor/class.md),which lab?  for example:  make $(firstword $(INCOMPLETE)) LAB=02)' >&2)
	$(if $(INCOMPLETE),@exit 2)
$(foreach goal,class $(LAB_TARGETS),$(if $(filter $(goal),$(QUIET_TARGETS)),$(goal)-answer,$(goal))): complete
