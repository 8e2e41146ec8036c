/* cases.c - the commands that are replayed with faults; see cases.h. A new row is replayed with every family. */
#include "cases.h"

#include <stddef.h>

#define STAGNATION "stagnation --quick --formats fp16 --modes rne,sr --quiet"
#define SCALING                                                                                                        \
    "loss_scaling --quick --steps 3 --seeds 1 --net fc10 --formats fp16 --scales 0 --scalers pytorch,amax --threads "  \
    "1 "                                                                                                               \
    "--quiet --checkpoint 1e-9 --out o.csv"
#define GAN                                                                                                            \
    "gan --quick --steps 3 --every 3 --seeds 1 --variants fp16 --classifier-steps 3 --samples 40 --shown 2 "           \
    "--classifier-net fc10 --latents 2 --threads 1 --quiet --checkpoint 1e-9 --out o.csv"
#define REDUCE                                                                                                         \
    "all_reduce --quick --orders ring --formats bf16 --modes rne --ranks 4 --elements 4 --train-ranks 4 --steps 3 "    \
    "--seeds 1 --reductions ring:fp32 --quiet --checkpoint 1e-9 --out o.csv"
#define NUMBERS "printf '%s\\n' 0.1 1e300 -3 nan 7 >stdin; "
#define ARRAY NUMBERS "$BIN/ulp round --format fp32 --to npy --out x.npy <stdin; rm stdin; "

const fault_case fault_cases[] = {
    {"stagnation", "$BIN/" STAGNATION " --seed 9 --threads 1 --out o.csv", STAGNATION " --threads 1 --out o.csv",
     .brief = 1},
    {"new results", "true", STAGNATION " --threads 1", .again = NULL},
    {"threads", "true", STAGNATION " --threads 3 --out o.csv", .threads = 1, .brief = 1},
    {"resume", "$BIN/" STAGNATION " --shard 0/2 --out o.csv.part && rm o.csv.part.run.json",
     STAGNATION " --threads 1 --out o.csv --resume", .again = ""},
    {"shard", "$BIN/" STAGNATION " --shard 0/2 --seed 9 --out s.csv", STAGNATION " --shard 0/2 --threads 1 --out s.csv",
     .again = NULL},
    {"merge", "$BIN/" STAGNATION " --shard 0/2 --out a && $BIN/" STAGNATION " --shard 1/2 --out b && rm -f *.run.json",
     STAGNATION " --threads 1 --out o.csv --merge a b",
     .again = STAGNATION " --threads 1 --out o.csv --resume --merge a b"},
    {"link", "mkdir d && echo old >d/o.csv && ln -s d/o.csv l.csv", STAGNATION " --threads 1 --out l.csv",
     .again = NULL},
    {"loss_scaling", "true", SCALING, .again = NULL},
    {"gan", "true", GAN, .brief = 1},
    {"all_reduce", "true", REDUCE " --threads 1", .again = NULL},
    {"all_reduce threads", "true", REDUCE " --threads 3", .threads = 1},
    {"profile", "true",
     "gradient_underflow --quick --steps 3 --seeds 1 --net fc10 --scales 0 --formats fp16 --threads 1 --quiet "
     "--profile "
     "--out o.csv",
     .again = NULL},
    {"verify", "$BIN/ulp verify --format e4m3 --mode rne --overflow inf --sample 500 --resume j",
     "ulp verify --format e4m3 --mode rne,ru --overflow inf --sample 500 --jobs 1 --resume j", .again = "", .brief = 1},
    {"verify threads", "true",
     "ulp verify --format e4m3 --mode rne,ru --overflow inf --sample 40000 --jobs 3 --resume j", .again = "",
     .threads = 1},
    {"verify arrays",
     NUMBERS "for t in x y; do $BIN/ulp round --format e4m3 --to npy --out $t.npy <stdin; done; rm stdin",
     "ulp verify --format e4m3 --mode rne --inputs x.npy --results y.npy", .again = ""},
    {"round text", NUMBERS "echo old >o", "ulp round --format fp16 --to both --out o", .again = ""},
    {"round bytes", NUMBERS "echo old >o", "ulp round --format fp16 --to codele --out o", .again = ""},
    {"round stdout", NUMBERS, "ulp round --format fp16 --to value", .again = ""},
    {"round npy", NUMBERS "echo old >o.npy", "ulp round --format fp16 --to npy --out o.npy", .again = "", .brief = 1},
    {"round npz", ARRAY "echo old >o.npz", "ulp round --format fp16 --from npy --to npz --out o.npz x.npy",
     .again = ""},
    {"block", ARRAY "echo old >o.npz", "ulp block --format mxfp4 --from npy --to npz --out o.npz x.npy", .again = ""},
    {"decode", ARRAY "$BIN/ulp block --format mxfp4 --from npy --to npz --out c.npz x.npy",
     "ulp block --format mxfp4 --decode --from npz --to npy --out o.npy c.npz", .again = ""},
    {"vectors", "true", "ulp vectors --format e2m1 --datapath h100-e4m3 --sums 20 --sample 64 --check --out v",
     .again = ""},
    {"sheet", "true", "ulp course sheet --id anna --out . L1", .again = ""},
    {"check", "$BIN/ulp course key --id anna --out . L1", "ulp course check anna-L1.csv", .again = ""},
    {"grade", "mkdir c && $BIN/ulp course key --id anna,bob --out c L1", "ulp course grade c L1", .again = ""},
    {"gemm",
     "for t in a b; do LC_ALL=C seq 1 16 | $BIN/ulp round --format fp16 --from text --to npy --out $t.npy; done; "
     "for t in a b; do LC_ALL=C sed 's/(16,), } /(4, 4), }/' $t.npy >s && mv s $t.npy; done; echo old >o.npy",
     "ulp gemm --datapath h100-fp16 --a a.npy --b b.npy --seconds 0 --threads 1 --out o.npy", .again = ""},
    {"probe", "true", "ulp probe --datapath h100-fp16 --csv", .again = ""},
    {"tree", "true", "ulp probe --tree mi250-bf16 --k 8", .again = ""},
    {"amp", "true", "ulp amp --format fp16 --explain --net conv8@3p1|bn|relu|fc10", .again = ""},
    {"bench", "true",
     "bench --quick --parts bits --bits 4 --formats binary16 --seconds 0.001 --rounds 1 --cache 64 --threads 1 "
     "--quiet --out o.csv",
     .again = "", .loose = 1},
};
const int fault_case_count = sizeof fault_cases / sizeof fault_cases[0];
