#!/bin/bash
#SBATCH --job-name=music-evals
#SBATCH --nodes=4 --ntasks-per-node=1 --gpus-per-node=8 --cpus-per-task=32 --mem=256G
#SBATCH --time=08:00:00
#SBATCH --signal=B:USR1@300
#SBATCH --requeue
#SBATCH --open-mode=append --output=music-evals-%j.txt
# Ray on several nodes of SLURM, and a run that queues itself again when its time is up: docs/at_scale.md. Not run.
set -euo pipefail
cd "$SLURM_SUBMIT_DIR"
source .venv/bin/activate
export MUSIC_EVALS_CACHE=$PWD/cache
HEAD=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
ADDRESS=$HEAD:$((6000 + SLURM_JOB_ID % 1000))
RUN=
trap 'kill $RUN || true; wait; scontrol requeue "$SLURM_JOB_ID"; exit' USR1

srun --nodes=1 --ntasks=1 --nodelist="$HEAD" ray start --head --port="${ADDRESS#*:}" --block &
sleep 15
srun --nodes=$((SLURM_NNODES - 1)) --ntasks=$((SLURM_NNODES - 1)) --exclude="$HEAD" \
  ray start --address="$ADDRESS" --block &
sleep 15
srun --overlap --nodes=1 --ntasks=1 --nodelist="$HEAD" \
  music-evals run muse ziqi msu_textual lilybench --model vllm/Qwen/Qwen2.5-72B-Instruct -M tensor_parallel_size=4 \
  --shards 8 --engine ray --address "$ADDRESS" --gpus-per-shard 4 \
  --log-dir "logs/$SLURM_JOB_NAME" --display none &
RUN=$!
wait "$RUN"
