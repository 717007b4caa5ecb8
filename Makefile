# Every target makes .venv and installs what it needs; a second run installs nothing.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
NB ?= $(wildcard chapters/*.ipynb chapters/appendix/*.ipynb)
PORT ?= 8000
LAB =
A ?=
GRADE ?=
K ?=
export THOROUGH ?=
FROM ?=
SOLUTIONS ?= yes
export SOLUTIONS
export OMP_NUM_THREADS ?= 1
PYTEST = $(BIN)/python -m pytest -p progress -o console_output_style=classic
INSTALL = $(BIN)/python -m pip install --disable-pip-version-check
# What concerns one topic (K=attention) and takes seconds: no page is built and no submission is graded.
TOPIC = tests/test_notebooks.py tests/test_prose_numbers.py tests/plainformer tests/plaincourse \
  tests/assignments/test_questions.py tests/assignments/test_marks.py $(NB)

.PHONY: which-assignment help book test execute serve lab release collect grade slides requirements clean
.DEFAULT_GOAL := help

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' Makefile

book: $(VENV)/.book  ## build the book into _build/html, strictly (SOLUTIONS=no leaves out those of the exercises)
	@rm -rf _build/html _build/.doctrees
	$(BIN)/jupyter-book build -W -n --keep-going -q .

test: $(VENV)/.instructor  ## run every test, notebooks and built pages included (K=attention for one topic, THOROUGH=1 for more of each)
ifeq ($(K),)
	@$(PYTEST) -n auto --dist loadfile --no-loadscope-reorder --durations=10
else
	@$(PYTEST) -n 0 --ignore tests/plainformer/pretrained -k '$(K)' $(TOPIC)
endif

execute: $(VENV)/.all  ## run the notebooks again, in place (NB=chapters/03_matmul.ipynb for one)
	$(BIN)/python tools/execute.py $(NB)

serve: $(VENV)/.book  ## build, serve on localhost:8000 and rebuild on change
	$(BIN)/python tools/serve.py --port $(PORT)

lab: $(VENV)/.all  ## open JupyterLab, to run the chapters and do the exercises
	@$(BIN)/jupyter trust $(NB) > /dev/null  # else JupyterLab hides the stored figures
	$(BIN)/jupyter lab --LabApp.default_url=/lab/tree/chapters/01_learning.ipynb $(LAB)

release: which-assignment $(VENV)/.instructor  ## for instructors: the student bundle of an assignment, into dist/ (A=04_mlp)
	@$(BIN)/python -m plaingrader release $(A)

collect: which-assignment $(VENV)/.instructor  ## for instructors: sort what a learning platform gave into assignments/submitted/ (A=04_mlp FROM=its folder or zip)
	@test -n "$(FROM)" || { echo "From where? For instance: make collect A=04_mlp FROM=~/Downloads/submissions.zip"; exit 1; }
	@$(BIN)/python -m plaingrader collect $(A) --from "$(FROM)"

grade: which-assignment $(VENV)/.instructor  ## for instructors: grade assignments/submitted/<student>/ (A=04_mlp, GRADE=options)
	@$(BIN)/python -m plaingrader grade $(A) $(GRADE)

slides: $(VENV)/.instructor  ## for instructors: Reveal.js slides of every chapter, into _build/slides (NB=chapters/03_matmul.ipynb for one)
	@$(BIN)/python tools/slides.py $(filter chapters/0% chapters/1%,$(NB))

which-assignment:
	@test -n "$(A)" || { echo "Which assignment? For instance: make release A=04_mlp"; exit 1; }

requirements: $(VENV)/.all  ## compile requirements.txt again from pyproject.toml
	$(BIN)/python tools/requirements.py

clean:  ## remove the built book (the environment stays; rm -rf .venv removes that)
	rm -rf _build

# The environment. Stamp files tell what has been installed, and from which version of the lists.
$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "This needs Python 3.11 or newer; '$(PYTHON)' is not. Name another: make PYTHON=python3.12 ..."; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' || { \
	  echo "'$(PYTHON)' has no venv module. On Debian or Ubuntu: apt-get install python3-venv"; exit 1; }
	@echo "Making an environment of its own for the course: $(VENV)"
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.book: pyproject.toml requirements.txt | $(BIN)/python
	@echo "Installing what building the book needs into $(VENV), once: about 100 packages, 300 MB"
	@sed '/^-e/d' requirements.txt > $(VENV)/constraints.txt
	@$(INSTALL) --no-compile -c $(VENV)/constraints.txt -e '.[book]'
	@touch $@

$(VENV)/.instructor: requirements-instructor.txt $(VENV)/.all
	@echo "Installing what assigning and grading need into $(VENV), once: nbgrader, Dask and sphinx-revealjs"
	@$(INSTALL) -r requirements-instructor.txt
	@touch $@

$(VENV)/.all: pyproject.toml requirements.txt | $(BIN)/python
	@echo "Installing all that chapters and tests need into $(VENV), once: PyTorch, JupyterLab and more, about 2 GB"
	@$(INSTALL) -r requirements.txt
	@touch $@ $(VENV)/.book
