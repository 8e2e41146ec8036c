# course.mk - the course: the questions of the labs, and the archives for students and teachers.
#
#   make course          build/course: archives for students and teachers; IDS="anna bob" adds sheets and keys, WORD=

# a source course/NAME.c that defines `const course_lab course_lab_NAME` is a lab
$(eval $(call made_table,labs,$(wildcard course/*.c),course/sheets/sheet.h,course_lab,course_lab_,course_lab_get))

.PHONY: course
course: programs web
	$(WRAP) PAGE=$(WEB)/ulplab.html BIN=$R/bin OUT=$(BUILD)/course IDS='$(strip $(IDS))' WORD='$(WORD)' sh course/make.sh
