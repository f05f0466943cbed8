#!/usr/bin/env bash
# Trains a model on music theory and measures it: data, fine-tuning, a curve over the checkpoints, what a score
# needs beside it, and GRPO. docs/training_curve.md says what came out and how long it took.
#
#   pip install -e '.[finetune,plots]'
#   examples/train_and_measure/train_and_measure.sh --model FOLDER [--out DIR] [--rows 800] [--limit 120] [--save 20] [--steps 12]
#
# FOLDER is a small chat model. --rows are training rows of each of three tasks, --limit the questions of a test,
# --save the steps between two checkpoints, --steps those of GRPO.
set -euo pipefail
model= out=runs/train_and_measure rows=800 limit=120 save=20 steps=12
while [[ $# -gt 0 ]]; do case $1 in
  --model) model=$2;; --out) out=$2;; --rows) rows=$2;; --limit) limit=$2;; --save) save=$2;; --steps) steps=$2;;
  *) sed -n '2,9s/^# *//p' "$0" >&2; exit 2;; esac; shift 2; done
: "${model:?--model names the folder of a chat model}"
train=$(dirname "$0")/train.py
tasks="musictheorybench_knowledge musictheorybench_reasoning ziqi_comprehension"
export OMP_WAIT_POLICY=passive  # faster where other programs use the cores, too

evaluate() {  # LOGS TASKS AND OPTIONS…: of the checkpoints in `models`
  music-evals run "${@:2}" "${models[@]/#/--model=}" --log-dir "$out/$1" --limit "$limit" --max-tokens 48 \
    --temperature 0 --max-connections 20 -M dtype=bfloat16 --display none
}

# No question of the default tests is in the training rows. Another seed's test has to be named.
music-evals build musictheorybench --seed 7 --out "$out/seed7"
against=(--against "$out/seed7")
# ZIQI-Eval's rows are Chinese and English in turn; the English ones are used.
music-evals build train musictheorybench --rows $((2 * rows)) --out "$out/data/musictheorybench" "${against[@]}"
music-evals build train ziqi --task comprehension --rows $((2 * rows)) --out "$out/data/ziqi" "${against[@]}"

mkdir -p "$out/sft" && cp -r "$model" "$out/sft/checkpoint-0"
python "$train" sft "$model" "$out/data" "$out/sft" --rows "$rows" --save-steps "$save"
mapfile -t models < <(ls -d "$out"/sft/checkpoint-* | sort -V)
evaluate curve_logs $tasks -T language=en
music-evals curve "$out/curve_logs" --out "$out/curve"

# Is anything leaked, read off the options, or forgotten? The first and the last checkpoint answer.
models=("${models[0]}" "${models[-1]}")
evaluate seed7_logs musictheorybench -T dataset="$out/seed7"
printf 'question = """\nA. $a\nB. $b\nC. $c\nD. $d"""\n' >"$out/options.toml"
evaluate options_logs musictheorybench -T prompts="$out/options.toml"
evaluate untrained_logs ziqi_generation -T language=en
for level in 2 3 4 5; do
  evaluate "level${level}_logs" musictheorybench_reasoning -T level="$level"
done

python "$train" grpo "${models[1]}" "$out/data" "$out/grpo" --rows "$rows" --steps "$steps"
models=("$out/grpo/checkpoint-$steps")
evaluate grpo_logs $tasks -T language=en
music-evals report "$out" --out "$out/report" --overwrite
