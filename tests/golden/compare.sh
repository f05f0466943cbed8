#!/usr/bin/env bash
# What two checkouts give, compared: compare.sh OLD NEW
#
# In each: the golden record (datasets with the costly ones, prompts, scores, logs, reports), and a few questions of
# every task with three baselines. Takes some twenty minutes on two cores, and writes into neither checkout.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for which in old new; do
  from=$(cd "$1" && pwd)
  shift
  mkdir "$work/$which"
  git -C "$from" ls-files -z | (cd "$from" && xargs -0 cp --parents -P -t "$work/$which")
  ln -sfn "$from/../shared" "$work/shared"
  (
    cd "$work/$which"
    export PYTHONPATH=$PWD GOLDEN=full MUSIC_EVALS_CACHE=$work/cache-$which
    python -m tests.golden.record datasets prompts scores logs report
    python "$here/every_task.py" "$work/$which/every_task.json"
    cp -r tests/golden "$work/record-$which"
    mv every_task.json "$work/record-$which"
    rm -rf "$work/record-$which"/{logs,*.py,*.sh,__pycache__} # the figures of the logs are in report/
  )
done
diff -r "$work/record-old" "$work/record-new" && echo "no difference in $(find "$work/record-new" -type f | wc -l) files"
