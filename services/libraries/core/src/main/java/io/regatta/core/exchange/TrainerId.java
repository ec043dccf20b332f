package io.regatta.core.exchange;

/**
 * The identity of one incarnation of one rank. The rendezvous issues the incarnation. A restarted trainer has a higher
 * one, so that late messages of the earlier incarnation can be distinguished.
 */
public record TrainerId(int rank, long incarnation) {}
