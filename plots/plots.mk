# plots.mk - figures from the results of experiments, the page that shows them, slides and notebooks.
#
#   make figures         runs every experiment, draws every figure, writes figures/index.html
#   make figures-quick   the same in less than a minute, with less data
#   make slides          after make figures: each figure as a slide with its claim, figures/slides/index.html shows them
#   make notebooks       runs the notebooks of python/examples and writes each as a page, figures/notebooks/NAME.html

.PHONY: figures figures-quick slides notebooks
.SECONDARY: $(EXPERIMENTS:%=results/%.csv)
FIGURES := $(EXPERIMENTS:%=figures/%.svg)
# what gnuplot needs to draw a figure, also in an installation
PLOT_FILES := $(wildcard plots/*.gp plots/*.awk)

# the options of the last run; `make` alone does not look
results/.options: .FORCE
	@mkdir -p $(@D) && { echo '$(FIGURE_OPTIONS)' | cmp -s - $@ || echo '$(FIGURE_OPTIONS)' > $@; }
results/%.csv: $B/% results/.options
	$(RUN) $< $(FIGURE_OPTIONS) --restart --out $@

# `make figures` runs again what was run by hand with --quick
ifeq ($(filter --quick,$(FIGURE_OPTIONS)),)
$(patsubst %.run.json,%.csv,$(shell grep -ls '^ *"command": .* --quick' results/*.run.json)): .FORCE
endif

figures/%.svg: results/%.csv plots/%.gp plots/style.gp $(wildcard plots/*.awk)
	@mkdir -p figures
	LC_ALL=C.UTF-8 gnuplot plots/$*.gp

# the page where gnuplot is there, else the CSVs and a sentence
PAGE := $(if $(HAVE_GNUPLOT),figures/index.html,$(EXPERIMENTS:%=results/%.csv))
NO_GNUPLOT = @$(if $(HAVE_GNUPLOT),true,echo 'gnuplot is missing: results/*.csv are there, figures are not' >&2; exit 3)

# with IN_ORDER one experiment runs after the other, since each uses all processors, and at the same time the figure of an
# earlier one is drawn
ifdef IN_ORDER
earlier :=
$(foreach e,$(EXPERIMENTS),$(if $(earlier),$(eval results/$e.csv: | results/$(earlier).csv))$(eval earlier := $e))
endif
RUN_AND_DRAW = @$(MAKE) --no-print-directory -j$$(getconf _NPROCESSORS_ONLN) IN_ORDER=yes $(1) $(PAGE)

figures: programs
	$(call RUN_AND_DRAW)
	$(NO_GNUPLOT)
	$(NO_NOTEBOOKS)

figures-quick: programs
	$(call RUN_AND_DRAW,FIGURE_OPTIONS=--quick)
	$(NO_GNUPLOT)

figures/index.html: $$(NEW_PAGES) $(FIGURES) plots/gallery.sh plots/captions.sh plots/field.awk $(wildcard plots/*.txt)
	EXPERIMENTS='$(EXPERIMENTS)' sh plots/gallery.sh

# The notebooks as pages, by the first Python that has what a page needs (python/examples/notebooks.py): the interpreter,
# then the names of the notebooks. `make figures-quick` leaves them as they are.
# No Python loads the library of a sanitizer without its help.
NOTEBOOKS_READY = $(eval NOTEBOOKS_READY := $(if $(filter release debug,$(MODE)),$(shell for p in '$(PYTHON)' /usr/bin/python3; do \
    "$$p" python/examples/notebooks.py ready 2>/dev/null && break; done)))$(NOTEBOOKS_READY)
NOTEBOOK_PAGES = $(patsubst %,figures/notebooks/%.html,$(wordlist 2,99,$(NOTEBOOKS_READY)))
NEW_PAGES = $(if $(filter --quick,$(FIGURE_OPTIONS)),,$(NOTEBOOK_PAGES))
NOTEBOOKS_NEED = notebooks: the pages are left out; they need matplotlib$(,) nbclient$(,) nbconvert and ipykernel (sh packages.sh --all)$(,) and MODE=release
NO_NOTEBOOKS = @$(if $(NOTEBOOKS_READY),true,echo '$(NOTEBOOKS_NEED)')

figures/notebooks/%.html: python/examples/%.ipynb python/examples/notebooks.py $(wildcard python/ulplab/*.py) $L/$(SO)
	@ULPLAB_LIBRARY=$L/$(SO) PYTHONPATH=python PYTHONDONTWRITEBYTECODE=1 \
	    $(firstword $(NOTEBOOKS_READY)) python/examples/notebooks.py html figures/notebooks $*

notebooks: $$(NOTEBOOK_PAGES)
	$(NO_NOTEBOOKS)
	@if [ -f figures/index.html ]; then EXPERIMENTS='$(EXPERIMENTS)' sh plots/gallery.sh; fi

# the slides take the figures as they are, also those of a quick run
slides: | $(filter figures figures-quick,$(MAKECMDGOALS))
	@EXPERIMENTS='$(EXPERIMENTS)' sh plots/slides.sh

