#!/usr/bin/env bash
# Trains a small language model to read scores and measures it: data, fine-tuning, a curve over the checkpoints, what
# a score needs beside it, and GRPO. docs/training_curve.md says what came out and how long it took.
#
#   pip install -e '.[finetune,plots,scores]'
#   examples/train_and_measure/train_and_measure.sh --model FOLDER [--out DIR] [--epochs 4] [--save 10] [--longest 4000] [--limit 96] [--steps 12]
#
# FOLDER is a small chat model. --longest leaves longer prompts out of the training rows, in characters; --save are
# the steps between two checkpoints, --limit the questions of a test, --steps those of GRPO.
set -euo pipefail
model= out=runs/train_and_measure epochs=4 save=10 longest=4000 limit=96 steps=12
while [[ $# -gt 0 ]]; do case $1 in
  --model) model=$2;; --out) out=$2;; --epochs) epochs=$2;; --save) save=$2;; --longest) longest=$2;;
  --limit) limit=$2;; --steps) steps=$2;;
  *) sed -n '2,9s/^# *//p' "$0" >&2; exit 2;; esac; shift 2; done
: "${model:?--model names the folder of a chat model}"
train=$(dirname "$0")/train.py
first_level=(msu_textual -T asking=single -T levels=1)
export OMP_WAIT_POLICY=passive  # faster where other programs use the cores, too

evaluate() {  # LOGS TASKS AND OPTIONS…: of the checkpoints in `models`
  music-evals run "${@:2}" "${models[@]/#/--model=}" --log-dir "$out/$1" --limit "$limit" --max-tokens 48 \
    --temperature 0 --max-connections 20 -M dtype=bfloat16 --display none
}

# No work of the default test is in the training rows. Another seed's test has to be named.
music-evals build msu --seed 7 --works 12 --out "$out/seed7"
music-evals build train msu --rows 300 --out "$out/data" --against "$out/seed7"

mkdir -p "$out/sft" && cp -r "$model" "$out/sft/checkpoint-0"
python "$train" sft "$model" "$out/data" "$out/sft" --epochs "$epochs" --save-steps "$save" --longest "$longest"
mapfile -t models < <(ls -d "$out"/sft/checkpoint-* | sort -V)
evaluate curve_logs "${first_level[@]}"
music-evals curve "$out/curve_logs" --out "$out/curve"

# Is anything leaked, answered without the score, or forgotten? The first and the last checkpoint answer.
models=("${models[0]}" "${models[-1]}")
evaluate seed7_logs "${first_level[@]}" -T dataset="$out/seed7"
for stimulus in none other; do
  evaluate "${stimulus}_logs" "${first_level[@]}" -T stimulus="$stimulus"
done
evaluate untrained_logs msu_textual -T asking=single -T levels=2,3,4
evaluate forgotten_logs ziqi_generation -T language=en

python "$train" grpo "${models[1]}" "$out/data" "$out/grpo" --steps "$steps" --longest "$longest"
models=("$out/grpo/checkpoint-$steps")
evaluate grpo_logs "${first_level[@]}"
music-evals report "$out" --out "$out/report" --overwrite
