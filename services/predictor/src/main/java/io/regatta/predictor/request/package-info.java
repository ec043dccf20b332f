/**
 * The forms in which requests give examples: lines, JSON objects, tables, and tensors of the Open Inference Protocol.
 * Part of the predictor.
 */
package io.regatta.predictor.request;
