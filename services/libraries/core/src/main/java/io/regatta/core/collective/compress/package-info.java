/**
 * Compression of the traffic between the ranks of collective training: which gradients are sent, and when parameters
 * are averaged.
 */
package io.regatta.core.collective.compress;
