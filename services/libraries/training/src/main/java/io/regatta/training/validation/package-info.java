/** Evaluation while a model is trained: early stopping, the best model, and a warning of overfitting. Part of the public API. */
package io.regatta.training.validation;
