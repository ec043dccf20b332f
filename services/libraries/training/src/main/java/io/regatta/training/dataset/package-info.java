/**
 * PaddlePaddle's two data sets over a worker's own files: one streams them, the other holds, shuffles and exchanges
 * their examples. Training programs and the trainer's data loading use them. Part of the public API.
 */
package io.regatta.training.dataset;
