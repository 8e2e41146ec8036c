#!/bin/sh
# state.sh - one line with the state of the GPU: driver, clocks, power, limits that hold it back, for reports.
command -v nvidia-smi > /dev/null || { echo 'state        nvidia-smi is not installed'; exit 0; }
fields=driver_version,pstate,clocks.sm,clocks.max.sm,clocks.mem,power.draw,power.limit,temperature.gpu,persistence_mode,ecc.mode.current,clocks_event_reasons.active
values=$(nvidia-smi --query-gpu=$fields --format=csv,noheader 2> /dev/null) || {
    fields=$(echo $fields | sed 's/clocks_event/clocks_throttle/') # the name in older drivers
    values=$(nvidia-smi --query-gpu=$fields --format=csv,noheader 2> /dev/null) || { echo 'state        nvidia-smi gives no state'; exit 0; }
}
echo "$values" | sed 's/^/state        driver, power state, SM clock, largest SM clock, memory clock, power, its limit, temperature, persistence, ECC, what holds the clock: /'
