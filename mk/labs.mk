# Targets that a student uses on a lab.

#:   make grade [LAB=04] [SUBMISSION=dir] [ENGINE=gpu|sim] [GPU=titanv] [SEED=n]
#:        [FAIL_UNDER=n]
#:                       build and grade in the sandbox
#:                       SUBMISSION=solutions: the answer key
#:                       VERBOSE=1: everything
#:                       (docs/student/messages.md explains the messages)
QUIET_TARGETS += grade
grade-answer:
	$(call stage,graders)
	$(Q)$(plus)$(BUILD)/bin/grade $(where) $(only) $(whose) --engine "$$ENGINE" \
	    $${FAIL_UNDER:+--fail-under "$$FAIL_UNDER"} $${VERBOSE:+--verbose}; $(save_status)

#:   make run LAB=04 [CASE=name | SHAPE='...'] [ENGINE=gpu|sim] [GPU=h200]
#:                       build, run and check one case in one process: time, or
#:                       cycles and counters, next to the baseline's.  A case of
#:                       your own: SHAPE='N=8 C=3 H=32 W=32 K=16 R=5 S=5 pad=same
#:                       stride=1'.  WEIGHTS=file reads w from an NPY, IDX or text
#:                       file (labs/16-layers/README.md)
QUIET_TARGETS += run
LAB_TARGETS   += run
run-answer:
	$(call stage,tools)
	$(Q)$(plus)$(BUILD)/bin/lab run $(where) $(only) $(shape) $(whose) --engine "$$ENGINE"; $(save_status)

#:   make profile LAB=04 [CASE=name] [GPU=h200] [PTX=1] [ENGINE=gpu]
#:        [AGAINST=reference|baseline|FOLDER] [KERNEL=name] [LAUNCH=n]
#:        [TRACE=file.json]
#:                       hot lines and their stall reasons, a timeline, the
#:                       roofline; counters that exceed the reference's
QUIET_TARGETS += profile
LAB_TARGETS   += profile
profile-answer:
	$(call stage,tools)
	$(Q)$(plus)$(BUILD)/bin/lab profile $(where) $(only) $(shape) $(whose) \
	    --engine $(if $(filter auto,$(ENGINE)),sim,"$$ENGINE") $${PTX:+--ptx} $${AGAINST:+--against "$$AGAINST"} \
	    $${KERNEL:+--kernel "$$KERNEL"} $${LAUNCH:+--launch "$$LAUNCH"} \
	    $${TRACE:+--trace "$$TRACE"}; $(save_status)

#:   make see LAB=04 [LINE=n] [CASE=name]
#:                       an HTML page: the accesses of each lane of a warp,
#:                       sectors, bank conflicts, the block's tile
#:                       (docs/student/see.md)
QUIET_TARGETS += see
LAB_TARGETS   += see
see-answer:
	$(call stage,tools)
	$(Q)$(plus)$(BUILD)/bin/lab see $(where) $(only) $(shape) $(whose) --engine "$$ENGINE" $${LINE:+--line "$$LINE"}; $(save_status)

#:   make picture LAB=02 [FILTER=edges] [PICTURE=file.png]
#:                       one of the labs 00 to 04 on a picture
#:                       (docs/student/picture.md)
QUIET_TARGETS += picture
picture-answer:
	$(Q)$(plus)sh common/setup/setup.sh "$$BUILD" python3-numpy python3-pil
	$(call stage,tools)
	$(Q)$(plus)sh common/setup/picture.sh "$$BUILD" "$$LAB" "$$SUBMISSION" "$$ENGINE" "$$PICTURE" "$$FILTER"; $(save_status)

#:   make ladder [LAB=04]
#:                       history of your grades, from the baseline to the
#:                       reference and the machine's roof: text and figures
QUIET_TARGETS += ladder
ladder-answer:
	$(call stage,$(BUILD)/bin/lab)
	$(Q)$(plus)sh common/setup/ladder.sh "$$BUILD" "$$LAB"; $(save_status)

#:   make hint LAB=04 [TODO=5]   the next hint, or the next of a region's three
#:   make watch LAB=04           grade again after each save
#:   make reset LAB=04           the skeleton again (keeps a backup)
#:   make solution LAB=04        the solution, after you have passed
QUIET_TARGETS += hint watch reset solution
LAB_TARGETS   += hint watch reset solution
OWN_TARGETS   += solution
hint-answer solution-answer reset-answer:
	$(call stage,$(BUILD)/bin/lab)
	$(Q)$(plus)$(BUILD)/bin/lab $(@:-answer=) $(where) --lab "$$LAB" $${TODO:+--todo "$$TODO"}; $(save_status)

watch-answer:
	$(call stage,tools)
	$(Q)$(plus)sh common/setup/watch.sh "$$BUILD" "$$LAB" $(BUILD)/bin/grade --watch $(where) --lab "$$LAB" --engine "$$ENGINE" --gpu "$$GPU"; $(save_status)

#:   make workbench [PORT=n]
#:                       the labs and programs of your own on one page in the
#:                       browser (docs/student/workbench.md)
.PHONY: workbench
workbench:
	$(call want,libjs-codemirror python3-numpy python3-pil)
	$(call stage,tools $(DEBUG_PARTS) $(BUILD)/bin/simnvcc $(BUILD)/bin/workbench)
	$(Q)exec $(BUILD)/bin/workbench $(where) --port "$$PORT" --open

#:   make book
#:                       the workbook as HTML pages with search, and as a PDF: the
#:                       labs, the GPU, glossary, errata, a cheat sheet
.PHONY: book
book:
	$(call want,python3-sphinx python3-myst-parser furo weasyprint)
	$(call stage,$(BUILD)/bin/lab)
	$(Q)sh common/setup/book.sh "$$BUILD"
