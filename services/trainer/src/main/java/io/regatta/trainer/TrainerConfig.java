package io.regatta.trainer;

/**
 * Configuration of one trainer process or verticle.
 *
 * @param job what to train
 * @param rank wished for; -1: any that is free
 * @param endpoint {@code host:port} announced to the other trainers, may be empty
 */
public record TrainerConfig(JobConfig job, int rank, String endpoint) {}
