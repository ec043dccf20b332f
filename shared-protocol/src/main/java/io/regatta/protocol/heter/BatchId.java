package io.regatta.protocol.heter;

import io.regatta.core.exchange.TrainerId;

/**
 * The identity of a batch that crosses a cut. A batch that is sent again, to any heter worker, keeps it.
 *
 * @param trainer rank and incarnation
 * @param replica number within the trainer
 * @param number counts the replica's batches from 1, also over steps that were not made
 */
public record BatchId(TrainerId trainer, int replica, long number) {}
