/**
 * PaddlePaddle's two data sets, over files of their own: one that streams them, and one that holds, shuffles and exchanges their
 * examples.
 */
package io.regatta.training.dataset;
