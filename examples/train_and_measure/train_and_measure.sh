#!/usr/bin/env bash
# Trains a model on music theory and measures it: data, fine-tuning, a curve over the checkpoints, what a score
# needs beside it, and GRPO. docs/training_curve.md says what came out and how long it took.
#
#   pip install -e '.[finetune,plots]'
#   examples/train_and_measure/train_and_measure.sh --model FOLDER [--out DIR] [--rows 300] [--limit 120] [--save 14] [--steps 12]
#
# FOLDER is a small chat model. --rows are training rows of each of three tasks, --limit the questions of a test,
# --save the steps between two checkpoints, --steps those of GRPO.
set -euo pipefail
model= out=runs/train_and_measure rows=300 limit=120 save=14 steps=12
while [[ $# -gt 0 ]]; do case $1 in
  --model) model=$2;; --out) out=$2;; --rows) rows=$2;; --limit) limit=$2;; --save) save=$2;; --steps) steps=$2;;
  *) sed -n '2,9s/^# *//p' "$0" >&2; exit 2;; esac; shift 2; done
: "${model:?--model names the folder of a chat model}"
train=$(dirname "$0")/train.py
tasks="musictheorybench_knowledge musictheorybench_reasoning ziqi_comprehension"
export OMP_WAIT_POLICY=passive  # faster where other programs use the cores, too

evaluate() {  # CHECKPOINT LOGS TASKS AND OPTIONS…
  music-evals run "${@:3}" --model "$1" --log-dir "$2" --limit "$limit" --max-tokens 48 --temperature 0 \
    --max-connections 20 -M dtype=bfloat16 --display none
}

# No question of the default tests is in the training rows. Another seed's test has to be named.
music-evals build musictheorybench --seed 7 --out "$out/seed7"
against=(--against "$out/seed7")
# ZIQI-Eval's rows are Chinese and English in turn; the English ones are used.
music-evals build train musictheorybench --rows $((2 * rows)) --out "$out/data/musictheorybench" "${against[@]}"
music-evals build train ziqi --task comprehension --rows $((2 * rows)) --out "$out/data/ziqi" "${against[@]}"

mkdir -p "$out/sft" && cp -r "$model" "$out/sft/checkpoint-0"
python "$train" sft "$model" "$out/data" "$out/sft" --rows "$rows" --save-steps "$save"
for checkpoint in "$out"/sft/checkpoint-*; do
  evaluate "$checkpoint" "$out/logs/${checkpoint##*/}" $tasks -T language=en
done
music-evals curve "$out/logs" --out "$out/curve"

last=$(ls -d "$out"/sft/checkpoint-* | sort -V | tail -1)
python "$train" grpo "$last" "$out/data" "$out/grpo" --rows "$rows" --steps "$steps"
evaluate "$out/grpo/checkpoint-$steps" "$out/after_grpo" $tasks -T language=en

# Is anything leaked, read off the options, or forgotten?
printf 'question = """\nA. $a\nB. $b\nC. $c\nD. $d"""\n' >"$out/options.toml"
for checkpoint in "$out/sft/checkpoint-0" "$last"; do
  name=${checkpoint##*/}
  evaluate "$checkpoint" "$out/seed7_logs/$name" musictheorybench -T dataset="$out/seed7"
  evaluate "$checkpoint" "$out/options_logs/$name" musictheorybench -T prompts="$out/options.toml"
  evaluate "$checkpoint" "$out/untrained_logs/$name" ziqi_generation -T language=en
  for level in 2 3 4 5; do
    evaluate "$checkpoint" "$out/levels_logs/$name-$level" musictheorybench_reasoning -T level="$level"
  done
done
music-evals report "$out" --out "$out/report" --overwrite
