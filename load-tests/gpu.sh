#!/bin/sh
# Runs the collective quick start (configs/resnet50.yaml) with one trainer on GPU 0 by DJL's PyTorch engine, and then, with
# fewer and smaller images, on the CPU; both print their images/s. Where there is no GPU it says so and ends with status 0.
#   REGATTA_CLASSPATH='DIR/*' load-tests/gpu.sh [more options of ./regatta simulate]
# With heter as its first argument it measures CTR-DNN and wide & deep instead: trainers on the CPU, without heter workers and with one
# on GPU 0, beside the advice (heter.sh, part machine): one trainer, then three.
#   REGATTA_CLASSPATH='DIR/*' load-tests/gpu.sh heter [--quick] [more options of the jobs]
# DIR holds DJL's PyTorch engine with natives for CUDA, from Maven Central: ai.djl.pytorch:pytorch-engine:0.35.1,
# pytorch-jni:2.7.1-0.35.1 and pytorch-native-cu128:2.7.1 (classifier linux-x86_64).
set -eu

here=$(cd "$(dirname "$0")" && pwd)
gpus=$(nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null | sed -n '$=' || true)
if [ "${gpus:-0}" -eq 0 ]; then
  echo "gpu.sh: SKIPPED, nothing was measured: there is no GPU on this machine (nvidia-smi lists none)." >&2
  exit 0
fi
if [ -z "${REGATTA_CLASSPATH:-}" ]; then
  echo "gpu.sh: set REGATTA_CLASSPATH to the jars of DJL's PyTorch engine with CUDA, see the head of $0" >&2
  exit 2
fi

train() { # DEVICE TRAINERS options
  device=$1
  trainers=$2
  shift 2
  echo "gpu.sh: $trainers trainer(s) on $device" >&2
  "$here/../regatta" simulate "$here/../configs/resnet50.yaml" --set engine=PyTorch --set "device=$device" \
    --set "trainers=$trainers" --set epochs=1 "$@"
}

nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
if [ "${1:-}" = heter ]; then
  shift
  quick=
  if [ "${1:-}" = --quick ]; then
    quick=--quick
    shift
  fi
  for trainers in 1 3; do
    PARTS=machine TRAINERS=$trainers "$here/heter.sh" $quick --set engine=PyTorch --set device=cpu --set heter.device=gpu:0 "$@"
  done
  exit
fi
train gpu:0 1 "$@"
train cpu 1 --set settings.image_size=32 --set settings.train_images=320 "$@"
