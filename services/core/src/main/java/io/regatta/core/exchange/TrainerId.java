package io.regatta.core.exchange;

/**
 * One life of one rank. The incarnation is issued by the rendezvous: a restarted trainer has a higher one, so that
 * late messages of the old life are told apart.
 */
public record TrainerId(int rank, long incarnation) {}
