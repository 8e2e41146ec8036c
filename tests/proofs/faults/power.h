/* power.h - a loss of power: what was not on the disk is lost. */
#ifndef FAULTS_POWER_H
#define FAULTS_POWER_H

#include "child.h"

/* After a run that was killed: cut each file in places.run to the bytes that were on the disk, by the log of calls. */
void lose_power(const places *p, outcome *o);

#endif
