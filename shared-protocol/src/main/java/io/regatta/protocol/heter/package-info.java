/**
 * Batches that cross the cut of a network, between a trainer and a heter worker. The sessions of both call it.
 */
package io.regatta.protocol.heter;
