/**
 * Programs that come with Regatta: fit-a-line, Census wide and deep, wide and deep, CTR-DNN and DeepFM on Criteo-format files,
 * logistic regression on LibSVM files, word2vec. They use nothing that a user's program could not.
 */
package io.regatta.program;
