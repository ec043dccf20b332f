/**
 * Output layers for labels: the loss of a network's outputs, and their conversion to scores. Part of the public API.
 */
package io.regatta.program.label;
