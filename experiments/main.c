/* main.c - the main of every experiment. */
#include "experiments/harness/experiment.h"

int main(int argc, char **argv) { return ulp_experiment_main(&experiment, argc, argv); }
