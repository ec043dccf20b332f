/**
 * The programs that come with Regatta: fit-a-line, Census wide and deep, wide and deep, CTR-DNN and DeepFM on
 * Criteo-format files, logistic regression on LibSVM files, word2vec, LeNet and ResNet-50. They use only the public
 * API, and {@code launch} starts them by class name.
 */
package io.regatta.program;
